//! Values of games: proofs within a given time, and the tables of the papers.
#![cfg(feature = "cli")]

use std::path::Path;
use std::time::Duration;

use kalah::cancel::Cancel;
use kalah::game::{Position, Rules};
use kalah::solve::{SolveError, Solver, SolverOptions};
use serde_json::Value;

use kalah_tests::program::{self, Ran, Run};
use kalah_tests::reference;

fn solver(rules: Rules, position: &Position, cancel: Cancel) -> Solver<'static> {
    let options = SolverOptions::new(rules, position).transpositions(16 << 20).cancel(cancel);
    Solver::new(options).unwrap()
}

fn position(text: &str) -> Position {
    text.parse().unwrap()
}

#[test]
fn bounds_hold_the_value_whatever_the_time() {
    for rules in Rules::ALL {
        for text in ["4x3", "3x5", "5x2", "<4,3,1,2,0,5,1,4,0,2,3>", "<2,9,0,1,1,0,2>"] {
            let position = position(text);
            let (_, value) = solver(rules, &position, Cancel::new()).value(&position, 0).unwrap();
            // A wrong first guess on either side leads to bounds on either side.
            for (guess, micros) in [(-9, 1), (0, 200), (9, 1_000), (0, 5_000), (2, 20_000)] {
                let solver = solver(rules, &position, Cancel::new());
                let bounds = solver.narrow(&position, guess, Duration::from_micros(micros)).unwrap();
                assert!(
                    bounds.lower <= value && value <= bounds.upper,
                    "{rules} {text} in {micros}: {bounds:?} and {value}"
                );
            }
            let solver = solver(rules, &position, Cancel::new());
            let bounds = solver.narrow(&position, 0, Duration::from_secs(3600)).unwrap();
            assert_eq!(bounds.value(), Some(value), "{rules} {text}");
        }
    }
}

#[test]
fn a_game_too_large_for_its_time_gets_bounds_on_both_sides() {
    let position = position("6x5");
    let solver = solver(Rules::EmptyCapture, &position, Cancel::new());
    let bounds = solver.narrow(&position, 10, Duration::from_millis(600)).unwrap();
    let (least, most) = (-i64::from(position.seeds()), i64::from(position.seeds()));
    // The published value is 12.
    assert!(least < bounds.lower && bounds.lower <= 12 && 12 <= bounds.upper && bounds.upper <= most, "{bounds:?}");
}

#[test]
fn a_deadline_ends_a_search_and_loses_nothing() {
    let position = position("6x5");
    let cancel = Cancel::new();
    let solver = solver(Rules::Standard, &position, cancel.clone());
    let value = |solver: &Solver| solver.value(&position, 10);
    assert!(matches!(solver.in_time(Duration::from_millis(50), value), Ok(None)));
    assert!(matches!(value(&solver.within(Duration::from_millis(50))), Err(SolveError::Stopped)));
    assert!(solver.nodes() > 0);
    // A stop is reported as such, with or without a deadline.
    cancel.cancel();
    assert!(matches!(value(&solver), Err(SolveError::Stopped)));
    assert!(matches!(solver.in_time(Duration::from_secs(3600), value), Err(SolveError::Stopped)));
    let solver = solver.under(&Cancel::new());
    let small = self::position("6x1");
    assert_eq!(solver.value(&small, 0).unwrap().1, solver_value(Rules::Standard, &small));
}

fn solver_value(rules: Rules, position: &Position) -> i64 {
    solver(rules, position, Cancel::new()).value(position, 0).unwrap().1
}

fn values(directory: &Path, args: &[&str]) -> std::process::Output {
    program::command().env("KALAH_TABLES", directory).args(["analyse", "values"]).args(args).run()
}

fn json(output: &std::process::Output) -> Value {
    assert!(output.status.success(), "{}", output.stderr());
    output.json()
}

#[test]
fn the_values_of_irving_2000() {
    let directory = tempfile::tempdir().unwrap();
    let report = json(&values(directory.path(), &["--pits", "1..4", "--seeds-per-pit", "1..4", "--json"]));
    assert_eq!(report["rules"], "empty-capture");
    let found = report["values"].as_array().unwrap();
    assert_eq!(found.len(), 16);
    for line in reference::lines(include_str!("../reference/irving-2000-game-values.csv")) {
        let (pits, seeds) = (line[0].parse::<u64>().unwrap(), line[1].parse::<u64>().unwrap());
        let Some(found) = found.iter().find(|found| found["pits"] == pits && found["seeds"] == seeds) else { continue };
        assert_eq!(found["outcome"], line[2], "{pits}x{seeds}");
        if !line[3].is_empty() {
            assert_eq!(found["value"], line[3].parse::<i64>().unwrap(), "{pits}x{seeds}");
        }
    }
}

#[test]
fn the_outcomes_of_kvitberg_2026() {
    let directory = tempfile::tempdir().unwrap();
    let flags = ["--rules", "s-kalaha", "--build", "--tables-up-to", "16", "--json"];
    // `tests/large_boards` solves the larger ones.
    let seeds = if cfg!(debug_assertions) { "1..3" } else { "1..4" };
    let report = json(&values(directory.path(), &[&flags[..], &["--seeds-per-pit", seeds]].concat()));
    let found = report["values"].as_array().unwrap();
    let mut compared = 0;
    for line in reference::lines(include_str!("../reference/kvitberg-2026-values.csv")) {
        let (pits, seeds) = (line[0].parse::<u64>().unwrap(), line[1].parse::<u64>().unwrap());
        let Some(found) = found.iter().find(|found| found["pits"] == pits && found["seeds"] == seeds) else { continue };
        assert_eq!(found["outcome"], line[2], "S-Kalaha({pits},{seeds})");
        compared += 1;
    }
    assert_eq!(compared, found.len());
}

#[test]
fn values_are_kept_and_taken_up() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("values.json");
    let state = state.to_str().unwrap();
    let small = ["--no-tables", "--pits", "2..3", "--seeds-per-pit", "1..2", "--state", state, "--json"];
    let first = values(directory.path(), &small);
    assert!(first.status.success());
    // No board is solved again: nodes and seconds are those of the first run.
    assert_eq!(values(directory.path(), &small).stdout, first.stdout);
    // A board that is not solved in time keeps its bounds until it gets more time.
    let large =
        ["--no-tables", "--memory", "16MiB", "--pits", "6", "--seeds-per-pit", "5", "--state", state, "--within"];
    let bounds = json(&values(directory.path(), &[&large[..], &["0.01", "--json"]].concat()));
    let bounds = &bounds["values"][0];
    assert!(bounds.get("value").is_none() && bounds["lower"].as_i64() <= Some(12));
    assert!(bounds["upper"].as_i64() >= Some(12));
    let again = json(&values(directory.path(), &[&large[..], &["0.01", "--json"]].concat()));
    assert_eq!(again["values"][0], *bounds, "the time was spent");
    let more = json(&values(directory.path(), &[&large[..], &["0.1", "--json"]].concat()));
    assert!(more["values"][0]["nodes"].as_u64() > bounds["nodes"].as_u64());
    assert!(more["values"][0]["lower"].as_i64() >= bounds["lower"].as_i64());
    // The file of other rules cannot be used.
    let other = values(directory.path(), &[&small[..], &["--rules", "standard"]].concat()).exits(1);
    assert!(other.stderr().contains("belongs to other work: rules empty-capture, not standard"));
}

#[test]
fn values_are_printed_and_bad_flags_refused() {
    let directory = tempfile::tempdir().unwrap();
    let printed = values(directory.path(), &["--no-tables", "--pits", "1..2", "--seeds-per-pit", "1..3"]);
    assert!(printed.status.success());
    assert_eq!(
        printed.stdout().lines().nth(2).map(|line| line.split_whitespace().collect::<Vec<_>>()),
        Some(vec!["1", "0", "-2", "+6"]),
    );
    for flags in [["--pits", "0..3"], ["--pits", "4..3"], ["--seeds-per-pit", "x"], ["--within", "0"]] {
        assert_eq!(values(directory.path(), &flags).status.code(), Some(2), "{flags:?}");
    }
}
