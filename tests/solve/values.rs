//! Values of games: proofs within a given time, and the tables of the papers.
#![cfg(feature = "cli")]

use std::time::Duration;

use kalah::cancel::Cancel;
use kalah::game::{Position, Rules};
use kalah::solve::{SolveError, Solver, SolverOptions};
use kalah_tests::program::{Ran, Run, with_tables};
use kalah_tests::reference;

fn solver(rules: Rules, position: &Position, cancel: &Cancel) -> Solver<'static> {
    Solver::new(SolverOptions::new(rules, position).transpositions(16 << 20).cancel(cancel.clone())).unwrap()
}

#[test]
fn bounds_hold_the_value_whatever_the_time() {
    for rules in Rules::ALL {
        for text in ["4x3", "3x5", "5x2", "<4,3,1,2,0,5,1,4,0,2,3>", "<2,9,0,1,1,0,2>"] {
            let position: Position = text.parse().unwrap();
            let solver = || solver(rules, &position, &Cancel::new());
            let (_, value) = solver().value(&position, 0).unwrap();
            // A wrong first guess on either side leads to bounds on either side.
            for (guess, micros) in [(-9, 1), (0, 200), (9, 1_000), (0, 5_000), (2, 20_000)] {
                let bounds = solver().narrow(&position, guess, Duration::from_micros(micros)).unwrap();
                assert!(
                    bounds.lower <= value && value <= bounds.upper,
                    "{rules} {text} in {micros}: {bounds:?} and {value}"
                );
            }
            let bounds = solver().narrow(&position, 0, Duration::from_secs(3600)).unwrap();
            assert_eq!(bounds.value(), Some(value), "{rules} {text}");
        }
    }
}

#[test]
fn a_game_too_large_for_its_time_gets_bounds_on_both_sides() {
    let position: Position = "6x5".parse().unwrap();
    let solver = solver(Rules::EmptyCapture, &position, &Cancel::new());
    let bounds = solver.narrow(&position, 10, Duration::from_millis(600)).unwrap();
    // The published value is 12.
    assert!(-60 < bounds.lower && bounds.lower <= 12 && 12 <= bounds.upper && bounds.upper <= 60, "{bounds:?}");
}

#[test]
fn a_deadline_ends_a_search_and_loses_nothing() {
    let [position, small]: [Position; 2] = ["6x5", "6x1"].map(|text| text.parse().unwrap());
    let cancel = Cancel::new();
    let stopped = solver(Rules::Standard, &position, &cancel);
    let value = |solver: &Solver| solver.value(&position, 10);
    assert!(matches!(stopped.in_time(Duration::from_millis(50), value), Ok(None)));
    assert!(matches!(value(&stopped.within(Duration::from_millis(50))), Err(SolveError::Stopped)));
    assert!(stopped.nodes() > 0);
    // A stop is reported as such, with or without a deadline.
    cancel.cancel();
    assert!(matches!(value(&stopped), Err(SolveError::Stopped)));
    assert!(matches!(stopped.in_time(Duration::from_secs(3600), value), Err(SolveError::Stopped)));
    let fresh = solver(Rules::Standard, &small, &Cancel::new());
    assert_eq!(stopped.under(&Cancel::new()).value(&small, 0).unwrap(), fresh.value(&small, 0).unwrap());
}

#[test]
fn the_values_of_the_papers() {
    let irving = include_str!("../reference/irving-2000-game-values.csv");
    let kvitberg = include_str!("../reference/kvitberg-2026-values.csv");
    let build = "--rules s-kalaha --build --tables-up-to 16";
    // `tests/large_boards` solves the larger ones.
    for (published, flags, pits, seeds) in [
        (irving, "", "1..6", "1..3"),
        (irving, "", "1..4", "4"),
        (irving, "", "1..3", "5..6"),
        (kvitberg, build, "1..6", if cfg!(debug_assertions) { "1..3" } else { "1..4" }),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let boards = ["--json", "--pits", pits, "--seeds-per-pit", seeds];
        let mut command = with_tables(directory.path(), "analyse values");
        let report = command.args(flags.split_whitespace()).args(boards).run().success().json();
        assert_eq!(report["rules"], if flags.is_empty() { "empty-capture" } else { "s-kalaha" });
        let found = report["values"].as_array().unwrap();
        let mut compared = 0;
        for line in reference::lines(published) {
            let [pits, seeds] = [line[0], line[1]].map(|number| number.parse::<u64>().unwrap());
            let is_board = |found: &&serde_json::Value| found["pits"] == pits && found["seeds"] == seeds;
            let Some(found) = found.iter().find(is_board) else { continue };
            assert_eq!(found["outcome"], line[2], "{pits}x{seeds}");
            // The outcome alone is published of small boards, and of all by Kvitberg.
            if published == irving && !line[3].is_empty() {
                assert_eq!(found["value"], line[3].parse::<i64>().unwrap(), "{pits}x{seeds}");
            }
            compared += 1;
        }
        assert!(compared > 2 && compared == found.len(), "{flags} {pits} {seeds}: {compared}");
    }
}

#[test]
fn values_are_kept_and_taken_up() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("values.json");
    let values = |line: &str| {
        let mut command = with_tables(directory.path(), "analyse values --no-tables --json --state");
        command.arg(&state).args(line.split(' ')).run()
    };
    let small = "--pits 2..3 --seeds-per-pit 1..2";
    let first = values(small).success();
    // No board is solved again: nodes and seconds are those of the first run.
    assert_eq!(values(small).stdout, first.stdout);
    // A board that is not solved in time keeps its bounds until it gets more time.
    let within = |time: &str| {
        let ran = values(&format!("--memory 16MiB --pits 6 --seeds-per-pit 5 --within {time}"));
        ran.success().json()["values"][0].clone()
    };
    let bounds = within("0.01");
    assert!(bounds.get("value").is_none() && bounds["lower"].as_i64() <= Some(12));
    assert!(bounds["upper"].as_i64() >= Some(12));
    assert_eq!(within("0.01"), bounds, "the time was spent");
    let more = within("0.1");
    assert!(more["nodes"].as_u64() > bounds["nodes"].as_u64() && more["lower"].as_i64() >= bounds["lower"].as_i64());
    let other = values(&format!("{small} --rules standard"));
    other.fails(1, "belongs to other work: rules empty-capture, not standard");
}

#[test]
fn values_are_printed_and_bad_flags_refused() {
    let directory = tempfile::tempdir().unwrap();
    let values = |line: &str| with_tables(directory.path(), "analyse values").args(line.split(' ')).run();
    let printed = values("--no-tables --pits 1..2 --seeds-per-pit 1..3").printed();
    assert_eq!(printed.lines().nth(2).unwrap().split_whitespace().collect::<Vec<_>>(), ["1", "0", "-2", "+6"]);
    for flags in ["--pits 0..3", "--pits 4..3", "--seeds-per-pit x", "--within 0"] {
        values(flags).exits(2);
    }
}
