//! Games as text on the command line: every command reads the games that another wrote.
#![cfg(feature = "cli")]

use std::path::Path;
use std::process::Output;

use kalah::game::{Position, Rules};
use kalah::record::{read_game, read_games};
use kalah::table::Tables;
use kalah_tests::program::{self, Ran, Run};
use kalah_tests::tables::built;
use serde_json::Value;

/// All tables of 3x2, built once.
fn directory() -> &'static Path {
    built(&[(Rules::Standard, 3, 12)])
}

fn kalah(args: &[&str], stdin: &str) -> Output {
    program::command().env("KALAH_TABLES", directory()).args(args).run_with(stdin)
}

#[track_caller]
fn refused(args: &[&str], stdin: &str, code: i32, expected: &str) {
    let output = kalah(args, stdin);
    let text = output.stderr();
    assert_eq!((output.status.code(), text.contains(expected)), (Some(code), true), "{text}");
}

#[test]
fn a_tournament_writes_all_its_games() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("all.games");
    let file = file.to_str().unwrap();
    let args = ["tournament", "greedy", "random:3", "--start", "3x2", "--rules", "standard", "--self-play", "--json"];
    let args = [&args[..], &["--save", file]].concat();
    let report: Value = kalah(&args, "").success().json();
    let games = read_games(&std::fs::read_to_string(file).unwrap(), Rules::default()).unwrap();
    let reported = report["games"].as_array().unwrap();
    assert_eq!((games.len(), reported.len()), (4, 4));
    for (game, reported) in games.iter().zip(reported) {
        assert_eq!(game.header("South"), reported["first"].as_str());
        assert_eq!(game.header("North"), reported["second"].as_str());
        assert_eq!(serde_json::json!(game.result), reported["seeds"]);
    }
    // Each game can be followed, and continued from its last position.
    let line = kalah(&["review", file, "--game", "2", "--no-tables", "--json"], "").printed();
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((line["line"].as_str(), line["rules"].as_str()), (Some(&*games[1].line.to_string()), Some("standard")));
    // Without a number it is the last game.
    let last = kalah(&["review", file, "--no-tables", "--json"], "").success();
    assert_eq!(last.json()["line"], games[3].line.to_string());
    assert!(last.stderr().contains("contains 4 games: this is the last one; --game N takes another"));
    refused(&["review", file, "--game", "5"], "", 1, "has no game 5");
    refused(&["tournament", "greedy", "--from", file, "--rules", "standard"], "", 1, "a game is over");
    let open = "[Rules \"standard\"]\n[Start \"3x2\"]\n\n1\n[Rules \"standard\"]\n[Start \"3x2\"]\n\n2";
    let args = ["tournament", "greedy", "--rules", "standard", "--from", "-", "--json", "--save"];
    refused(&[&args[..], &[file]].concat(), open, 1, "give --force to replace it");
    let other = directory.path().join("other.games");
    let args = [&args[..], &[other.to_str().unwrap()]].concat();
    let report: Value = kalah(&args, open).success().json();
    let again = read_games(&std::fs::read_to_string(&other).unwrap(), Rules::default()).unwrap();
    assert_eq!((report["starts"].as_array().unwrap().len(), again.len()), (2, 2));
    let ends = read_games(open, Rules::default()).unwrap().iter().map(|game| game.end().0).collect::<Vec<Position>>();
    assert_eq!(again.iter().map(|game| game.start).collect::<Vec<Position>>(), ends);
    refused(&["tournament", "greedy", "--from", "-"], open, 1, "add --rules standard");
}

#[test]
fn a_game_in_the_terminal_is_kept_and_gone_on_with() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mine.games");
    let file = file.to_str().unwrap();
    // The input ends after the first move.
    let args = ["play", "3x2", "--rules", "standard", "--north", "greedy", "--save", file];
    kalah(&args, "1\n").printed();
    let kept = read_game(&std::fs::read_to_string(file).unwrap(), Rules::default()).unwrap();
    assert_eq!((kept.header("South"), kept.header("North")), (Some("human"), Some("greedy")));
    assert!(kept.line.to_string().starts_with('1') && kept.result.is_none());
    let args = ["play", "--from", file, "--south", "random:1", "--north", "greedy", "--save", file];
    let printed = kalah(&args, "").printed();
    let whole = read_game(&std::fs::read_to_string(file).unwrap(), Rules::default()).unwrap();
    assert!(whole.line.to_string().starts_with(&kept.line.to_string()) && whole.result.is_some());
    assert!(printed.contains(&format!("line {}", whole.line)), "{printed}");
    assert_eq!(whole.rules, Rules::Standard);
    refused(&["play", "3x2", "--from", file], "", 2, "cannot be used with");
    refused(&["play", "--from", "-"], "[Start \"3x2\"]\n\n9", 1, "line 3: '9'");
    refused(&["play", "--from", "/nonexistent.games"], "", 1, "cannot read /nonexistent.games");
}

/// The games of a file stay, in their own words, before the new one.
#[test]
fn games_are_added_to_those_of_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("my.games");
    let file = path.to_str().unwrap();
    let first = "[Event \"old\"]\n[Rules \"standard\"]\n[Start \"3x2\"]\n\n1   {mine}\n\n\n";
    std::fs::write(&path, first).unwrap();
    let read = || std::fs::read_to_string(&path).unwrap();
    let games = || read_games(&read(), Rules::default()).unwrap();
    let play = ["play", "3x2", "--rules", "standard", "--south", "greedy", "--north", "greedy", "--save"];
    kalah(&[&play[..], &[file]].concat(), "").printed();
    assert!(read().starts_with(first.trim_end()) && games().len() == 2, "{}", read());
    let add = [&play[..], &[file]].concat();
    for count in [3, 4] {
        let before = read();
        kalah(&add, "").printed();
        assert!(read().starts_with(before.trim_end()) && games().len() == count, "{}", read());
        assert!(games().last().unwrap().result.is_some());
    }
    let before = read();
    refused(&["play", "--from", file, "--game", "1", "--save", file], "", 1, "contains 4 games");
    for (text, why) in [("my notes\n", "is not a turn"), ("[remote \"origin\"]\n  url = x\n", "line 2")] {
        std::fs::write(&path, text).unwrap();
        refused(&add, "", 1, why);
        assert_eq!(read(), text);
    }
    std::fs::write(&path, before).unwrap();
    // The file itself, not a link to it, is replaced.
    #[cfg(unix)]
    {
        let link = directory.path().join("link.games");
        std::os::unix::fs::symlink("my.games", &link).unwrap();
        kalah(&[&play[..], &[link.to_str().unwrap()]].concat(), "").printed();
        assert!(link.is_symlink() && games().len() == 5);
    }
}

#[test]
fn puzzles_have_one_move_that_keeps_the_outcome() {
    let args = ["puzzles", "--start", "3x2", "--rules", "standard", "--count", "5", "--json"];
    let report: Value = kalah(&args, "").success().json();
    let again: Value = kalah(&args, "").success().json();
    assert_eq!(again, report, "the same seed finds the same puzzles");
    let tables = Tables::open(directory(), Rules::Standard, 3, 12).unwrap();
    let puzzles = report["puzzles"].as_array().unwrap();
    assert_eq!(puzzles.len(), 5);
    for puzzle in puzzles {
        let position: Position = puzzle["position"].as_str().unwrap().parse().unwrap();
        let mut values: Vec<(i64, usize)> = tables
            .move_scores(&position)
            .unwrap()
            .into_iter()
            .map(|(pit, score)| (position.value(score), pit.number()))
            .collect();
        values.sort_by_key(|&(value, _)| -value);
        assert_eq!(puzzle["move"], values[0].1);
        assert_eq!((&puzzle["value"], &puzzle["second"]), (&values[0].0.into(), &values[1].0.into()));
        assert!(values[0].0 >= 0 && values[0].0.signum() > values[1].0.signum());
        let turns = puzzle["line"].as_str().unwrap().split(' ').count();
        assert_eq!(puzzle["turns"], turns);
        let expected = match puzzle["depth"].as_u64().unwrap() {
            0..=2 => "easy",
            3..=5 => "medium",
            _ => "hard",
        };
        assert_eq!(puzzle["level"], expected);
    }
    refused(&["puzzles", "--start", "4x2"], "", 1, "kalah build");
    refused(&["puzzles", "--start", "3x2", "--rules", "standard", "--count", "1000000", "--games", "3"], "", 1, "only");
    refused(&["puzzles", "--level", "odd"], "", 2, "the levels are easy, medium and hard");
}

#[test]
fn puzzles_are_chosen_by_seeds_and_by_what_tempts() {
    let args = ["puzzles", "--start", "3x2", "--rules", "standard", "--count", "4", "--json"];
    let find = |flags: &[&str]| -> Value { kalah(&[&args[..], flags].concat(), "").success().json() };
    let tempts = |puzzle: &Value| {
        let position: Position = puzzle["position"].as_str().unwrap().parse().unwrap();
        let search = kalah::solve::LimitedSearch::new(Rules::Standard, kalah::solve::Method::SeqAb, 1);
        search.run(&position).best.map(|pit| pit.number() as u64) != puzzle["move"].as_u64()
    };
    let all =
        |report: &Value, wanted: &dyn Fn(&Value) -> bool| report["puzzles"].as_array().unwrap().iter().all(wanted);
    let (large, tempting, any) = (find(&["--in-play", "9"]), find(&["--tempting"]), find(&[]));
    let is_large = |puzzle: &Value| puzzle["seeds"].as_u64() >= Some(9);
    assert!(all(&large, &is_large) && !all(&any, &is_large), "{large} {any}");
    assert!(all(&tempting, &tempts) && !all(&any, &tempts), "{tempting} {any}");
}

#[test]
fn comments_and_headers_are_kept_by_commands_that_read_and_write() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mine.games");
    let file = file.to_str().unwrap();
    let text = "[Rules \"standard\"]\n[Start \"3x2\"]\n[Event \"a club\"]\n\n{a start} 1 {and an answer}";
    let comments = read_game(text, Rules::default()).unwrap().comments;
    assert_eq!(comments.len(), 2);
    std::fs::write(file, text).unwrap();
    let args = ["play", "--from", file, "--south", "greedy", "--north", "greedy", "--save", file];
    kalah(&args, "").printed();
    let game = read_game(&std::fs::read_to_string(file).unwrap(), Rules::default()).unwrap();
    assert_eq!((&game.comments, game.result.is_some()), (&comments, true));
    assert_eq!((game.header("Event"), game.header("South")), (Some("a club"), Some("greedy")));
}
