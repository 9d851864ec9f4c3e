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
    let text = kalah(&["play", "0,2,0,1/0,0,1,1", "--north", "human"], "4\n2\n4\n3\n").printed();
    assert!(text.contains("South> 4\n") && text.contains("North> 3\n"), "{text}");
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
fn moves_are_taken_back_and_bad_ones_reported() {
    let typed = "back\n9\nxyzzy\n3\n2\nback\nline\nquit\n";
    let text = kalah(&["play", "6x4", "--north", "human"], typed).printed();
    assert!(text.contains("you have not moved yet"), "{text}");
    assert!(text.contains("there is no pit 9: the pits are 1 to 6"), "{text}");
    assert!(text.contains("'xyzzy' is neither a pit nor a command"), "{text}");
    // Move 3 allows another move. Move 2 is taken back, although it would be North's turn, and only 3 is left.
    assert!(text.contains("\nSouth> line\n3\n"), "{text}");
    assert!(text.contains("the game ends here, at"), "{text}");
}

#[test]
fn extra_moves_captures_relays_and_the_end_are_announced() {
    let text = kalah(&["play", "0,2,0,1/0,0,1,1", "--north", "human"], "4\n2\n43\n").printed();
    for expected in [
        "South sows 4 and moves again\n",
        "South sows 2 and captures 1\n",
        "North sows 4 and moves again\nNorth sows 3 and captures 1\n",
        "North's row is empty: the game is over, and South keeps the 1 seed left in its row\nSouth wins, 3 to 2\n",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    // South gets two seeds of the other side and the capturing one.
    let text = kalah(&["play", "1,0,1/1,2,1", "--north", "human"], "1\n").printed();
    assert!(text.contains("South sows 1 and captures 3\n"), "{text}");
    let flags = ["play", "2,2,2,2,2/2,2,2,2,2", "--north", "greedy", "--rules", "s-kalaha"];
    let text = kalah(&flags, "5\n").printed();
    assert!(text.contains("South sows 5 and relays through 3 pits\n"), "{text}");
    assert!(text.contains("North, greedy, sows 5, relays through 2 pits and moves again ("), "{text}");
}

#[test]
fn whole_turns_are_typed_and_taken_back_as_one() {
    for turn in ["36", "3 6", "3,6", " 3, 6 "] {
        let text = kalah(&["play", "6x4", "--north", "greedy"], &format!("{turn}\nline\nu\nline\nU\n")).printed();
        assert!(text.contains("South sows 3 and moves again\nSouth sows 6\n"), "{text}");
        assert!(text.contains("line\n36 26\n") && text.contains("South> line\n\n"), "{text}");
        assert!(text.contains("you have not moved yet"), "{text}");
    }
    let text = kalah(&["play", "12x4", "--north", "human", "--tables", "/"], "9,1\n36\nline\n").printed();
    assert!(text.contains("South sows 9 and moves again\nSouth sows 1\n"), "{text}");
    assert!(text.contains("there is no pit 36: the pits are 1 to 12; several moves are written 3,6"), "{text}");
    assert!(text.contains("North> line\n9,1\n"), "{text}");
}

#[test]
fn a_turn_that_is_not_legal_to_its_end_is_not_played_at_all() {
    for (turn, why) in [
        ("25", "move 5 cannot follow: move 2 does not end in the store; none of these moves was made"),
        ("33", "move 3 is illegal, since the pit is empty; legal moves: 1 2 4 5 6; none of these moves was made"),
        ("37", "there is no pit 7: the pits are 1 to 6"),
        ("3 \u{0663}", "'\u{0663}' is neither a pit nor a command; type ? for help"),
        ("3 \u{1b}[2J", "'\\u{1b}[2J' is neither a pit nor a command"),
    ] {
        let text = kalah(&["play", "6x4", "--north", "human"], &format!("{turn}\nline\n")).printed();
        assert!(text.contains(why) && text.contains("South> line\n\n"), "{turn}: {text}");
    }
    // This is the last seed of South's row.
    let text = kalah(&["play", "0,1/1,0", "--north", "human"], "21\nline\n2\n").printed();
    assert!(text.contains("move 1 cannot follow: move 2 ends the game; none of these moves was made"), "{text}");
    assert!(
        text.ends_with(
            "South's row is empty: the game is over, and North keeps the 1 seed left in its row\n\
             a draw, 1 to 1\nline 2\n"
        ),
        "{text}"
    );
}

#[test]
fn words_are_listed_when_asked_for_and_no_bytes_break_the_game() {
    let mut command = program::command();
    command.args(["play", "6x4", "--north", "human"]).env("KALAH_TABLES", directory());
    let text = command.run_with(&b"h\n?\nHELP\n\xff\xfe 3\n\nboard\nq\n"[..]).printed();
    assert_eq!(text.matches("undo (u): take your last turn back").count(), 4, "{text}");
    assert!(text.contains("is neither a pit nor a command") && text.contains("the game ends here"), "{text}");
}

/// Strategy for random input, much of it legal.
fn typed() -> impl Strategy<Value = Vec<String>> {
    let line = prop_oneof![
        8 => "[1-4]{1,3}",
        2 => "[1-4]([ ,]{1,2}[1-4]){0,2}",
        3 => Just("u".to_owned()),
        1 => "\\PC{0,6}",
    ];
    // Input that ends the session comes only at the end.
    let line = line.prop_filter("no end", |line| !["q", "quit", "exit"].contains(&line.trim().to_lowercase().as_str()));
    prop::collection::vec(line, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// The reported line of play leads to the reported position, whatever was typed and taken back.
    #[test]
    fn the_reported_game_is_the_played_one(lines in typed(), rules in prop::sample::select(&Rules::ALL[..])) {
        let start: Position = "4x3".parse().unwrap();
        let stdin = lines.join("\n") + "\nline\n";
        let output = kalah(&["play", "4x3", "--north", "human", "--rules", rules.name()], &stdin);
        let text = output.printed();
        let end = text.lines().last().unwrap();
        if let Some(line) = end.strip_prefix("line ") {
            prop_assert!(Line::parse(4, line).unwrap().replay(rules, &start).unwrap().is_over(), "{}", text);
        } else {
            let line = text.lines().rev().nth(2).unwrap();
            let places = Line::parse(4, line).unwrap().follow(rules, &start).unwrap();
            let at = format!("the game ends here, at {}", places.last().unwrap().position);
            prop_assert_eq!(end, at, "{}", text);
        }
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
fn a_move_shows_how_sure_it_is() {
    let text = kalah(&["move", "1,0,1,1,1,1/1,0,0,1,1,0", "--rules", "empty-capture"], "").printed();
    assert!(text.ends_with("from the tables\n  proved: no move has a higher value\n"), "{text}");
    let text = kalah(&["move", "6x4", "--player", "alphabeta:3", "--rules", "empty-capture"], "").printed();
    assert!(text.ends_with("searched to depth 3\n  not proved: the best move that the search found\n"), "{text}");
    let text = kalah(&["move", "6x4", "--player", "heuristic", "--rules", "empty-capture"], "").printed();
    assert!(text.ends_with("not proved: this player does not evaluate moves\n"), "{text}");
}

#[test]
fn a_long_search_shows_its_time() {
    let empty = tempfile::tempdir().unwrap();
    let tables = empty.path().to_str().unwrap();
    let output = kalah(&["move", "6x6", "--no-book", "--rules", "standard", "--tables", tables, "--time", "3"], "");
    let (text, messages) = (output.printed(), output.stderr());
    assert!(messages.contains("perfect on <6,0,0,6,6,6,6,6,6,6,6,6,6,6,6>, standard: "), "{messages}{text}");
    // A quick answer prints no message.
    assert!(!kalah(&["move", "6x1"], "").stderr().contains("perfect on"));
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
