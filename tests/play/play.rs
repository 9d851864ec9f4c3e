//! `kalah play` and `kalah move`, as people and scripts use them.
#![cfg(feature = "cli")]

use std::process::Output;

use kalah::game::{Line, Position, Rules};
use kalah_tests::program::{Ran, Run, with_tables};
use kalah_tests::tables::built;
use proptest::prelude::*;

fn kalah(line: &str, stdin: &str) -> Output {
    with_tables(built(&[(Rules::EmptyCapture, 6, 8), (Rules::Standard, 6, 8)]), line).run_with(stdin)
}

#[test]
fn games_are_played_through_a_pipe() {
    for (line, typed, parts) in [
        // Both players store their last seed and move again. North empties the row, and South keeps the rest.
        (
            "play 0,2,0,1/0,0,1,1 --north human",
            "4\n2\n43\n",
            &["South is to move\n", "North is to move\n", "South wins, 3 to 2\nline 42 43\n<end>"][..],
        ),
        ("play 1,0,1,1,0,1/0,1,1,0,1,0", "hint\n6\nhint\n", &["sow ", "from the tables"]),
        ("play 6x1 --south greedy --north heuristic", "", &["South, greedy, sows 6", "North, heuristic, sows"]),
        ("play 12x4 --north human --tables /", "9,1\n36\n", &["'36' is not a turn", "line 9,1\n<end>"]),
        // This is the last seed of South's row.
        ("play 0,1/1,0 --north human", "21\n2\n", &["a draw, 1 to 1\nline 2\n<end>"]),
        // The end of the input ends the game politely.
        ("play", "", &["the game ends here, at <6,0,0,4,4,4,4,4,4,4,4,4,4,4,4>"]),
        ("play --north human", "3\n", &["line 3\n<end>"]),
    ] {
        let text = kalah(line, typed).printed() + "<end>";
        assert!(parts.iter().all(|part| text.contains(part)), "{line}: no {parts:?} in {text}");
    }
}

#[test]
fn turns_are_taken_back_and_bad_ones_reported() {
    let typed = "undo\n9\nxyzzy\n25\n33\n36\n2\nundo\nundo\n3\nquit\n";
    let text = kalah("play 6x4 --north human", typed).printed();
    for why in ["you have not moved yet", "'9' is not a turn", "'xyzzy'", "move that ended it", "move 3 is not legal"] {
        assert!(text.contains(why), "{why}: {text}");
    }
    // An error names the input that is understood.
    assert_eq!(text.matches("or undo, hint or quit").count(), 5, "{text}");
    assert!(text.contains("the game ends here, at <6,1,0,4,4,0,5,5,5,4,4,4,4,4,4>\nline 3\n"), "{text}");
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
        let text = kalah(&format!("play 4x3 --north human --rules {rules}"), &stdin).printed();
        let [line, end] = text.lines().rev().take(2).collect::<Vec<_>>()[..] else { panic!("{text}") };
        let line = Line::parse(4, line.strip_prefix("line ").unwrap()).unwrap();
        let position = line.follow(rules, &start).unwrap().last().unwrap().position;
        prop_assert!(position.is_over() || end == format!("the game ends here, at {position}"), "{}", text);
    }
}

#[test]
fn the_board_shows_both_rows_as_south_sees_them() {
    let text = kalah("play <6,7,21,0,2,10,1,0,1,1,3,0,1,1,0>", "").printed();
    let lines: Vec<&str> = text.lines().collect();
    let north = lines.iter().position(|line| line.contains("North")).unwrap();
    assert!(lines[north].contains("[ 0   1   1   0   3   1]"), "{text}");
    assert!(lines[north + 1].trim_start().starts_with("21") && lines[north + 1].trim_end().ends_with('7'), "{text}");
    assert!(lines[north + 2].contains("[ 0   2  10   1   0   1]"), "{text}");
}

#[test]
fn one_move_is_printed_as_json() {
    let answer = |line: &str| kalah(&format!("move --json {line}"), "").success().json();
    let exact = answer("<4,0,0,1,1,1,1,1,1,1,1> --player perfect");
    assert!(exact["seconds"].is_f64() && exact["value"].is_i64() && exact["source"] == "solver", "{exact}");
    let exact = answer("1,0,1,1,1,1/1,0,0,1,1,0");
    assert_eq!((&exact["player"], &exact["source"]), (&"perfect".into(), &"tables".into()), "{exact}");
    let probe = kalah("probe --json 1,0,1,1,1,1/1,0,0,1,1,0", "").success().json();
    assert_eq!(exact["value"], probe["value"]);
    assert!(probe["best"].as_array().unwrap().contains(&exact["move"]), "{exact} {probe}");

    let rule = answer("6x4 --player heuristic --rules standard");
    assert_eq!((&rule["move"], &rule["source"]), (&3.into(), &"LastSeedToKalaha".into()));
    assert!(rule.get("value").is_none() && rule.get("estimate").is_none(), "{rule}");
    let deep = answer("6x4 --player alphabeta:5");
    assert_eq!((&deep["depth"], deep["estimate"].is_i64()), (&5.into(), true), "{deep}");
    let late = answer("6x6 --no-book --time 0.2");
    assert!(late["move"].is_u64() && (late["estimate"].is_i64() || late["lower"].is_i64()), "{late}");
}

#[test]
fn bad_players_and_positions_are_usage_errors_that_list_the_valid_ones() {
    for (line, expected) in [
        ("move 6x4 --player bob", "minimax3:D"),
        ("play --south bob", "alphabeta:D"),
        ("play --north minimax2:0", "heuristic"),
        ("tournament bob", "random:SEED"),
        ("move 6", "is not a position"),
        ("move 0,0/1,0", "the game is over"),
    ] {
        kalah(line, "").fails(2, expected);
    }
}
