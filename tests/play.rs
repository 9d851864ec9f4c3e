//! `kalah play` and `kalah move` as people and scripts use them.

use std::path::Path;
use std::process::Output;
use std::sync::LazyLock;

use assert_cmd::Command;
use kalah::build::build;
use kalah::game::Rules;
use serde_json::Value;

/// Tables to 8 seeds, built once.
fn directory() -> &'static Path {
    static TABLES: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
        let directory = tempfile::tempdir().unwrap();
        build(directory.path(), Rules::EmptyCapture, 6, 8).unwrap();
        build(directory.path(), Rules::Standard, 6, 8).unwrap();
        directory
    });
    TABLES.path()
}

fn kalah(args: &[&str], stdin: &str) -> Output {
    let mut command = Command::cargo_bin("kalah").unwrap();
    command.env("KALAH_TABLES", directory()).args(args).write_stdin(stdin).output().unwrap()
}

/// What a successful command printed.
#[track_caller]
fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_game_is_played_through_a_pipe() {
    // Both store their last seed and move again; North clears the row and South keeps what is left.
    let text = stdout(&kalah(&["play", "0,2,0,1/0,0,1,1", "--north", "human"], "4\n2\n4\n3\n"));
    assert!(text.contains("South> 4\n") && text.contains("North> 3\n"), "{text}");
    assert!(text.ends_with("South wins, 3 to 2\nline 42 43\n"), "{text}");
}

#[test]
fn a_player_answers_and_tells_what_it_knows() {
    let text = stdout(&kalah(&["play", "1,0,1,1,0,1/0,1,1,0,1,0"], "hint\n6\nhint\n"));
    assert!(text.contains("sow ") && text.contains("from the tables"), "{text}");
    let text = stdout(&kalah(&["play", "6x1", "--south", "greedy", "--north", "heuristic"], ""));
    assert!(text.contains("South, greedy, sows 6") && text.contains("North, heuristic, sows"), "{text}");
}

#[test]
fn moves_are_taken_back_and_bad_ones_told() {
    let typed = "back\n9\nxyzzy\n3\n2\nback\nline\nquit\n";
    let text = stdout(&kalah(&["play", "6x4", "--north", "human"], typed));
    assert!(text.contains("you have not moved yet"), "{text}");
    assert!(text.contains("move 9 is not legal"), "{text}");
    assert!(text.contains("'xyzzy' is neither a pit nor a word"), "{text}");
    // 3 moves again; 2 is taken back, and only 3 is left.
    assert!(text.contains("\nSouth> line\n3\n") || text.contains("\nNorth> line\n3"), "{text}");
    assert!(text.contains("the game ends here, at"), "{text}");
}

#[test]
fn the_end_of_the_input_ends_the_game_politely() {
    let output = kalah(&["play"], "");
    let text = stdout(&output);
    assert!(text.contains("the game ends here, at <6,0,0,4,4,4,4,4,4,4,4,4,4,4,4>"), "{text}");
    assert!(kalah(&["play", "--north", "human"], "3\n").status.success());
}

#[test]
fn the_board_shows_both_rows_as_south_sees_them() {
    let text = stdout(&kalah(&["play", "<6,7,21,0,2,10,1,0,1,1,3,0,1,1,0>"], ""));
    let lines: Vec<&str> = text.lines().collect();
    let north = lines.iter().position(|line| line.contains("North")).unwrap();
    assert!(lines[north].contains("[ 0   1   1   0   3   1]"), "{text}");
    assert!(lines[north + 1].trim_start().starts_with("21") && lines[north + 1].trim_end().ends_with('7'), "{text}");
    assert!(lines[north + 2].contains("[ 0   2  10   1   0   1]"), "{text}");
}

fn answer(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(&kalah(&[&["move", "--json"], args].concat(), ""))).unwrap()
}

#[test]
fn one_move_is_told_as_json() {
    // What the probe says: value +2, best move 6.
    let mut exact = answer(&["<4,0,0,1,1,1,1,1,1,1,1>", "--player", "perfect"]);
    assert!(exact["seconds"].is_f64() && exact["value"].is_i64() && exact["source"] == "solver", "{exact}");
    exact = answer(&["1,0,1,1,1,1/1,0,0,1,1,0"]);
    assert_eq!((&exact["player"], &exact["source"]), (&"perfect".into(), &"tables".into()), "{exact}");
    let probe = stdout(&kalah(&["probe", "--json", "1,0,1,1,1,1/1,0,0,1,1,0"], ""));
    let probe: Value = serde_json::from_str(&probe).unwrap();
    assert_eq!(exact["value"], probe["value"]);
    assert!(probe["best"].as_array().unwrap().contains(&exact["move"]), "{exact} {probe}");

    let rule = answer(&["6x4", "--player", "heuristic", "--rules", "standard"]);
    assert_eq!((&rule["move"], &rule["source"]), (&3.into(), &"LastSeedToKalaha".into()));
    assert!(rule.get("value").is_none() && rule.get("estimate").is_none(), "{rule}");
    let deep = answer(&["6x4", "--player", "alphabeta:5"]);
    assert_eq!((&deep["depth"], deep["estimate"].is_i64()), (&5.into(), true), "{deep}");
    let late = answer(&["6x6", "--time", "0.2"]);
    assert!(late["move"].is_u64() && (late["estimate"].is_i64() || late["lower"].is_i64()), "{late}");
}

#[test]
fn bad_players_and_positions_are_usage_errors_that_tell_what_is_known() {
    for args in [
        &["move", "6x4", "--player", "bob"][..],
        &["play", "--south", "bob"],
        &["play", "--north", "minimax2:0"],
        &["tournament", "bob"],
    ] {
        let output = kalah(args, "");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        for known in ["perfect", "minimax:D", "alphabeta:D", "heuristic", "minimax3:D", "greedy", "random:SEED"] {
            assert!(stderr(&output).contains(known), "{args:?}: {}", stderr(&output));
        }
    }
    assert_eq!(kalah(&["move", "6"], "").status.code(), Some(2));
    assert_eq!(kalah(&["move", "0,0/1,0"], "").status.code(), Some(2));
}
