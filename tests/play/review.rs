//! `kalah review`: exact values for every turn of a game.
#![cfg(feature = "cli")]

use std::path::Path;
use std::process::Output;

use kalah::analyse::{MoveQuality, QualityTally, ReviewedTurn};
use kalah::game::{Line, Pit, Place, Position, Rules, ValueBounds};
use kalah::record::GameRecord;
use kalah::table::Tables;
#[cfg(unix)]
use kalah_tests::program;
use kalah_tests::program::{Ran, Run, with_tables};
use kalah_tests::tables::built;
use serde_json::{Value, json};

use super::record::played;

const RULES: Rules = Rules::Standard;

/// All tables of 3x2, built once.
fn directory() -> &'static Path {
    built(&[(RULES, 3, 12)])
}

fn kalah(args: &[&str], stdin: &str) -> Output {
    with_tables(directory(), "review").args(args).run_with(stdin)
}

#[track_caller]
fn answer(args: &[&str], stdin: &str) -> Value {
    let mut answer = kalah(&[args, &["--json"]].concat(), stdin).success().json();
    answer.as_object_mut().unwrap().remove("seconds");
    answer
}

/// A game of random moves from 3x2 to its end.
fn random_game(seed: u64) -> GameRecord {
    let mut random = fastrand::Rng::with_seed(seed);
    let choices: Vec<usize> = (0..200).map(|_| random.usize(..60)).collect();
    played(RULES, "3x2".parse().unwrap(), &choices)
}

/// Returns the beginning of a turn to its first losing move, once with each best move in its place.
fn best_turns(tables: &Tables, start: &Position, turn: &[Pit]) -> Vec<String> {
    let text = |moves: &[Pit]| moves.iter().map(ToString::to_string).collect::<String>();
    let (mut position, mut first) = (*start, None);
    for (at, pit) in turn.iter().enumerate() {
        let best: Vec<Pit> = tables.probe(&position).unwrap().best().collect();
        let beginnings: Vec<String> = best.iter().map(|&best| text(&[&turn[..at], &[best]].concat())).collect();
        if !best.contains(pit) {
            return beginnings;
        }
        first.get_or_insert(beginnings);
        position = position.play(RULES, *pit).unwrap().position;
    }
    first.unwrap()
}

#[test]
fn every_turn_is_evaluated_by_the_tables() {
    let tables = Tables::open(directory(), RULES, 3, 12).unwrap();
    let mut marks = std::collections::BTreeSet::new();
    for seed in 0..30 {
        let game = random_game(seed);
        let answer = answer(&["-"], &game.to_string());
        assert_eq!(answer["nodes"], 0);
        let places = game.line.follow(RULES, &game.start).unwrap();
        let value = |index: usize| places[index].turned(tables.probe(&places[index].position).unwrap().value);
        let mut tallies = [QualityTally::default(), QualityTally::default()];
        for (index, turn) in answer["turns"].as_array().unwrap().iter().enumerate() {
            let place = &places[index];
            let (before, after) = (place.turned(value(index)), place.turned(value(index + 1)));
            assert_eq!((&turn["best_worth"]["value"], &turn["worth"]["value"]), (&before.into(), &after.into()));
            assert_eq!(turn["seeds_lost"], (before - after) / 2, "{turn}");
            let quality = MoveQuality::of(before, after);
            assert_eq!(turn["judgement"], quality.name());
            assert_eq!(turn["best"], json!(best_turns(&tables, &place.position, &game.line.turns()[index])));
            marks.insert(quality.mark());
            if turn["choice"] == true {
                tallies[usize::from(!place.first)].add(before, after);
            } else {
                assert_eq!(before, after, "{turn}");
            }
        }
        for (tally, side) in tallies.iter().zip(["south", "north"]) {
            let counts = [tally.evaluated, tally.best, tally.inaccuracies, tally.mistakes, tally.blunders];
            let fields = ["evaluated", "best", "inaccuracies", "mistakes", "blunders"];
            assert_eq!(fields.map(|field| answer[side][field].clone()), counts.map(Value::from), "{answer}");
            assert_eq!(answer[side]["seeds_lost"], tally.lost, "{answer}");
            assert_eq!(answer[side].get("accuracy").and_then(Value::as_f64), tally.accuracy(), "{answer}");
        }
        // The losses of both sides lead from the value of the start to the result.
        let [south, north] = game.result.unwrap().map(i64::from);
        assert_eq!(south - north, value(0) - 2 * tallies[0].lost + 2 * tallies[1].lost);
    }
    assert!(marks.contains("??") && marks.contains("?!") && marks.contains(""), "{marks:?}");
}

#[test]
fn a_search_finds_what_the_tables_say() {
    for seed in [3, 4] {
        let game = random_game(seed);
        let by_tables = answer(&["-"], &game.to_string());
        let mut searched = answer(&["-", "--no-tables", "--threads", "1"], &game.to_string());
        assert!(searched["nodes"].as_u64() > Some(0));
        searched["nodes"] = by_tables["nodes"].clone();
        searched["table_seeds"] = by_tables["table_seeds"].clone();
        assert_eq!(searched, by_tables);
    }
}

#[test]
fn games_come_from_files_text_and_positions() {
    let directory = tempfile::tempdir().unwrap();
    let game = random_game(7).with_header("South", "me");
    let (text, line) = (game.to_string(), game.line.to_string());
    let whole = answer(&["-"], &text);
    assert_eq!(whole["south"]["name"], "me");
    let path = directory.path().join("mine.games");
    std::fs::write(&path, format!("{}\n{text}", random_game(8))).unwrap();
    let file = path.to_str().unwrap();
    for args in [&[file, "--game", "2"][..], &[&text], &[file]] {
        assert_eq!(answer(args, ""), whole, "{args:?}");
    }
    let turns: Vec<&str> = ["3x2", "--rules", "standard"].into_iter().chain(line.split(' ')).collect();
    for args in [&turns[..], &["3x2", &line, "--rules", "standard"], &[&format!("3x2 {line}"), "--rules", "standard"]] {
        assert_eq!(answer(args, "")["turns"], whole["turns"], "{args:?}");
    }
    // Forms of other programs, under the rules of the flag where they name none.
    for (text, stdin) in [(&["CF ba"][..], ""), (&["-"], "[3, 6, 9, 8]\n"), (&["36 21"], ""), (&["36", "21"], "")] {
        let game = answer(&[text, &["--rules", "standard", "--within", "1ms"]].concat(), stdin);
        assert_eq!(["rules", "line"].map(|field| &game[field]), ["standard", "36 21"], "{text:?}");
        assert_eq!(game["start"], "<6,0,0,4,4,4,4,4,4,4,4,4,4,4,4>");
    }
    let table = kalah(&["-"], &text).printed();
    assert_eq!(table.lines().count(), game.line.turns().len() + 6, "{table}");
    assert!(table.contains("\nsouth, me ") && table.contains("accuracy"), "{table}");
    #[cfg(unix)]
    {
        let piped = format!("'{}' review --json <(cat '{file}') --game 2", program::path().display());
        let mut bash = std::process::Command::new("bash");
        let piped = bash.args(["-c", &piped]).env("KALAH_TABLES", self::directory()).run();
        assert_eq!(piped.json()["turns"], whole["turns"]);
    }
    for (args, expected) in [
        (&["no.games"][..], "'no.games' is neither a file nor a game"),
        (&["3x2", "7"], "'7' is not a turn"),
        (&["3x2 7"], "'7' is not a turn"),
        (&["6y6", "1"], "is not a position"),
        (&["36", "27"], "'36 27' is neither a file nor a game"),
        (&[file, "1"], "TURNS can follow only a position"),
        (&[file, "--game", "2", "--rules", "s-kalaha"], "under standard: leave out --rules s-kalaha"),
        (&[&text, "--rules", "s-kalaha"], "the game is under standard: leave out --rules s-kalaha"),
    ] {
        kalah(args, "").fails(2, expected);
    }
}

/// A value not proved in time is never called exact. A value in the book is not searched.
#[test]
fn values_that_are_not_found_in_time_are_unknown_or_bounds() {
    let line = "6x6 12 3 4 5 --rules empty-capture --no-tables --memory 16MiB --threads 1 --within 0.01 --no-book";
    let without_book: Vec<&str> = line.split(' ').collect();
    let unknown = answer(&without_book, "");
    for turn in unknown["turns"].as_array().unwrap() {
        assert!(turn["worth"].get("value").is_none() && turn["best_worth"].get("value").is_none(), "{turn}");
        assert!(turn.get("judgement").is_none() && turn.get("seeds_lost").is_none(), "{turn}");
        assert_eq!(turn["best"], json!([]));
    }
    assert_eq!((&unknown["south"]["evaluated"], unknown["south"].get("accuracy")), (&0.into(), None));
    kalah(&without_book, "").success().prints("unknown");
    // The book has the value of the start.
    let known = answer(&without_book[..without_book.len() - 1], "");
    assert_eq!(known["turns"][0]["best_worth"]["value"], 2, "{known}");
    let line = Line::parse(6, known["line"].as_str().unwrap()).unwrap();
    assert_eq!(line.turns().len(), 4);
}

/// Bounds decide that a turn lost seeds before they decide how many.
#[test]
fn bounds_that_exclude_the_best_turn_show_its_least_loss() {
    let exact = |value| (value, value);
    for (value, worth, least, quality) in [
        ((16, 30), exact(12), 2, Some(MoveQuality::Inaccuracy)),
        (exact(-8), (-30, -16), 4, Some(MoveQuality::Mistake)),
        ((2, 20), (-20, 0), 1, Some(MoveQuality::Blunder)),
        (exact(6), exact(6), 0, Some(MoveQuality::Best)),
        (exact(6), (2, 6), 0, None),
        ((-4, 20), (-10, 8), 0, None),
    ] {
        let [value, worth] = [value, worth].map(|(lower, upper)| ValueBounds { lower, upper });
        let place = Place::all(RULES, &"6x4".parse().unwrap(), &[]).unwrap()[0];
        let turn = ReviewedTurn { place, moves: Vec::new(), value, worth, choice: true, best: Vec::new() };
        assert_eq!((turn.least_lost(), turn.quality()), (least, quality), "{turn:?}");
    }
}

#[test]
fn outcomes_count_for_more_than_seeds() {
    for (value, after, quality) in [
        (4, 4, MoveQuality::Best),
        (-4, -4, MoveQuality::Best),
        (12, 10, MoveQuality::Inaccuracy),
        (12, 4, MoveQuality::Mistake),
        (-2, -20, MoveQuality::Mistake),
        (2, 0, MoveQuality::Blunder),
        (0, -2, MoveQuality::Blunder),
        (40, -2, MoveQuality::Blunder),
    ] {
        assert_eq!(MoveQuality::of(value, after), quality, "{value} to {after}");
    }
    let mut tally = QualityTally::default();
    [(4, 4), (4, 2), (0, -6)].into_iter().for_each(|(value, after)| tally.add(value, after));
    assert_eq!(tally.accuracy(), Some(33.3));
    tally.add(12, 4);
    let counts = [tally.evaluated, tally.best, tally.inaccuracies, tally.mistakes, tally.blunders];
    assert_eq!((counts, tally.lost), ([4, 1, 1, 1, 1], 8));
    assert_eq!((tally.accuracy(), QualityTally::default().accuracy()), (Some(25.0), None));
}
