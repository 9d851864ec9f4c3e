//! `kalah play` and `kalah move`, as people and scripts use them.
#![cfg(feature = "cli")]

use std::path::Path;
use std::process::Output;

use kalah::game::{Line, Position, Rules};
use kalah_tests::program::{self, Ran, Run};
use kalah_tests::tables::built;
use proptest::prelude::*;
use serde_json::Value;

/// Tables to 8 seeds, built once.
fn directory() -> &'static Path {
    built(&[(Rules::EmptyCapture, 6, 8), (Rules::Standard, 6, 8)])
}

fn kalah(args: &[&str], stdin: &str) -> Output {
    program::command().env("KALAH_TABLES", directory()).args(args).run_with(stdin)
}

#[test]
fn a_game_is_played_through_a_pipe() {
    // Both players store their last seed and move again. North empties the row, and South keeps the remaining seeds.
    let text = kalah(&["play", "0,2,0,1/0,0,1,1", "--north", "human"], "4\n2\n43\n").printed();
    assert!(text.contains("South is to move\n") && text.contains("North is to move\n"), "{text}");
    assert!(text.ends_with("South wins, 3 to 2\nline 42 43\n"), "{text}");
}

#[test]
fn a_player_answers_and_reports_its_evaluation() {
    let text = kalah(&["play", "1,0,1,1,0,1/0,1,1,0,1,0"], "hint\n6\nhint\n").printed();
    assert!(text.contains("sow ") && text.contains("from the tables"), "{text}");
    let text = kalah(&["play", "6x1", "--south", "greedy", "--north", "heuristic"], "").printed();
    assert!(text.contains("South, greedy, sows 6") && text.contains("North, heuristic, sows"), "{text}");
}

#[test]
fn turns_are_taken_back_and_bad_ones_reported() {
    let typed = "undo\n9\nxyzzy\n25\n33\n36\n2\nundo\nundo\n3\nquit\n";
    let text = kalah(&["play", "6x4", "--north", "human"], typed).printed();
    for why in ["you have not moved yet", "'9' is not a turn", "'xyzzy'", "move that ended it", "move 3 is not legal"] {
        assert!(text.contains(why), "{why}: {text}");
    }
    // An error names the input that is understood.
    assert_eq!(text.matches("or undo, hint or quit").count(), 5, "{text}");
    assert!(text.contains("the game ends here, at <6,1,0,4,4,0,5,5,5,4,4,4,4,4,4>\nline 3\n"), "{text}");
    let text = kalah(&["play", "12x4", "--north", "human", "--tables", "/"], "9,1\n36\n").printed();
    assert!(text.contains("'36' is not a turn") && text.ends_with("line 9,1\n"), "{text}");
    // This is the last seed of South's row.
    let text = kalah(&["play", "0,1/1,0", "--north", "human"], "21\n2\n").printed();
    assert!(text.ends_with("a draw, 1 to 1\nline 2\n"), "{text}");
}

/// Strategy for random input, much of it legal.
fn typed() -> impl Strategy<Value = Vec<String>> {
    let line = prop_oneof![
        8 => "[1-4]{1,3}",
        2 => "[1-4]([ ,]{1,2}[1-4]){0,2}",
        3 => Just("undo".to_owned()),
        1 => "\\PC{0,6}",
    ];
    // Input that ends the session comes only at the end.
    let line = line.prop_filter("no end", |line| line.trim() != "quit");
    prop::collection::vec(line, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// The reported line of play leads to the reported position, whatever was typed and taken back.
    #[test]
    fn the_reported_game_is_the_played_one(lines in typed(), rules in prop::sample::select(&Rules::ALL[..])) {
        let start: Position = "4x3".parse().unwrap();
        let stdin = lines.join("\n") + "\n";
        let output = kalah(&["play", "4x3", "--north", "human", "--rules", rules.name()], &stdin);
        let text = output.printed();
        let [line, end] = text.lines().rev().take(2).collect::<Vec<_>>()[..] else { panic!("{text}") };
        let line = Line::parse(4, line.strip_prefix("line ").unwrap()).unwrap();
        let position = line.follow(rules, &start).unwrap().last().unwrap().position;
        prop_assert!(position.is_over() || end == format!("the game ends here, at {position}"), "{}", text);
    }
}

#[test]
fn the_end_of_the_input_ends_the_game_politely() {
    let output = kalah(&["play"], "");
    let text = output.printed();
    assert!(text.contains("the game ends here, at <6,0,0,4,4,4,4,4,4,4,4,4,4,4,4>"), "{text}");
    assert!(kalah(&["play", "--north", "human"], "3\n").status.success());
}

#[test]
fn the_board_shows_both_rows_as_south_sees_them() {
    let text = kalah(&["play", "<6,7,21,0,2,10,1,0,1,1,3,0,1,1,0>"], "").printed();
    let lines: Vec<&str> = text.lines().collect();
    let north = lines.iter().position(|line| line.contains("North")).unwrap();
    assert!(lines[north].contains("[ 0   1   1   0   3   1]"), "{text}");
    assert!(lines[north + 1].trim_start().starts_with("21") && lines[north + 1].trim_end().ends_with('7'), "{text}");
    assert!(lines[north + 2].contains("[ 0   2  10   1   0   1]"), "{text}");
}

fn answer(args: &[&str]) -> Value {
    kalah(&[&["move", "--json"], args].concat(), "").success().json()
}

#[test]
fn one_move_is_printed_as_json() {
    // From `kalah probe`: value +2, best move 6.
    let mut exact = answer(&["<4,0,0,1,1,1,1,1,1,1,1>", "--player", "perfect"]);
    assert!(exact["seconds"].is_f64() && exact["value"].is_i64() && exact["source"] == "solver", "{exact}");
    exact = answer(&["1,0,1,1,1,1/1,0,0,1,1,0"]);
    assert_eq!((&exact["player"], &exact["source"]), (&"perfect".into(), &"tables".into()), "{exact}");
    let probe = kalah(&["probe", "--json", "1,0,1,1,1,1/1,0,0,1,1,0"], "").printed();
    let probe: Value = serde_json::from_str(&probe).unwrap();
    assert_eq!(exact["value"], probe["value"]);
    assert!(probe["best"].as_array().unwrap().contains(&exact["move"]), "{exact} {probe}");

    let rule = answer(&["6x4", "--player", "heuristic", "--rules", "standard"]);
    assert_eq!((&rule["move"], &rule["source"]), (&3.into(), &"LastSeedToKalaha".into()));
    assert!(rule.get("value").is_none() && rule.get("estimate").is_none(), "{rule}");
    let deep = answer(&["6x4", "--player", "alphabeta:5"]);
    assert_eq!((&deep["depth"], deep["estimate"].is_i64()), (&5.into(), true), "{deep}");
    let late = answer(&["6x6", "--no-book", "--time", "0.2"]);
    assert!(late["move"].is_u64() && (late["estimate"].is_i64() || late["lower"].is_i64()), "{late}");
}

#[test]
fn bad_players_and_positions_are_usage_errors_that_list_the_valid_ones() {
    for args in [
        &["move", "6x4", "--player", "bob"][..],
        &["play", "--south", "bob"],
        &["play", "--north", "minimax2:0"],
        &["tournament", "bob"],
    ] {
        let output = kalah(args, "").exits(2);
        for known in ["perfect", "minimax:D", "alphabeta:D", "heuristic", "minimax3:D", "greedy", "random:SEED"] {
            assert!(output.stderr().contains(known), "{args:?}: {}", output.stderr());
        }
    }
    assert_eq!(kalah(&["move", "6"], "").status.code(), Some(2));
    assert_eq!(kalah(&["move", "0,0/1,0"], "").status.code(), Some(2));
}

#[test]
fn moves_are_chosen_in_the_positions_of_files() {
    let positions = "\u{feff}# two\r\n6x1\r\n\r\nnone\r\n1,0,1,1,1,1/1,0,0,1,1,0 # by the tables\r\n0,0/1,0";
    let output = kalah(&["move", "-", "--json"], positions).exits(1);
    let text = output.stdout();
    let answers: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 2, "{text}");
    assert_eq!(answers[0]["position"], "<6,0,0,1,1,1,1,1,1,1,1,1,1,1,1>");
    let messages = output.stderr();
    assert!(messages.contains("kalah: standard input:4: 'none' is not a position"), "{messages}");
    assert!(messages.contains("kalah: standard input:6: the game is over at <2,0,0,0,0,1,0>"), "{messages}");
}
