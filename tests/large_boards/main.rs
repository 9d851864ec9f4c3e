//! Published values of large boards.
#![cfg(feature = "cli")]

use kalah::build::build;
use kalah::game::{Rules, StartPosition};
use kalah::solve::{Solver, SolverOptions};
use kalah::table::Tables;
use kalah_tests::program::{Ran, Run, with_tables};
use kalah_tests::reference;

/// The largest board of Irving, Donkers and Uiterwijk. Its search takes as long as all others together.
const LARGEST: [&str; 2] = ["6", "5"];

/// Solves boards of which Irving, Donkers and Uiterwijk print the values. Compares the values, and replays our lines.
fn compare_with_irving_2000(is_wanted: impl Fn(&[&str]) -> bool) {
    let directory = tempfile::tempdir().unwrap();
    for line in reference::lines(include_str!("../reference/irving-2000-game-values.csv")) {
        if !is_wanted(&line[..2]) {
            continue;
        }
        let (pits, seeds): (usize, u32) = (line[0].parse().unwrap(), line[1].parse().unwrap());
        let position = StartPosition { pits, seeds }.position().unwrap();
        build(directory.path(), Rules::EmptyCapture, pits, (position.seeds() as usize).min(24)).unwrap();
        let tables = Tables::open(directory.path(), Rules::EmptyCapture, pits, 24).unwrap();
        let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
        let options = SolverOptions::new(Rules::EmptyCapture, &position).tables(Some(&tables));
        let solver = Solver::new(options.transpositions(512 << 20).threads(threads)).unwrap();
        let guess = solver.first_guess(&position).unwrap();
        let solution = solver.solve(&position, guess).unwrap();
        println!("{pits}x{seeds}: {}, {} nodes, {}", solution.value, solver.nodes(), solution.line);
        let sign = ["L", "D", "W"][(solution.value.signum() + 1) as usize];
        assert_eq!(sign, line[2], "{position}");
        assert!(line[3].is_empty() || line[3] == solution.value.to_string(), "{position}");
        let end = solution.line.replay(Rules::EmptyCapture, &position).unwrap();
        let sign = if solution.line.turns().len().is_multiple_of(2) { 1 } else { -1 };
        assert_eq!(end.final_value().map(|end| sign * end), Some(solution.value), "{position}");
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes hours when not optimised")]
fn values_of_irving_2000() {
    compare_with_irving_2000(|board| board != LARGEST);
}

#[test]
#[ignore = "slow"]
fn the_largest_board_of_irving_2000() {
    compare_with_irving_2000(|board| board == LARGEST);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes when not optimised")]
fn outcomes_of_kvitberg_2026() {
    let directory = tempfile::tempdir().unwrap();
    let line = "analyse values --rules s-kalaha --build --tables-up-to 16 --seeds-per-pit 5 --json";
    let report = with_tables(directory.path(), line).run().success().json();
    let found = report["values"].as_array().unwrap();
    let mut compared = 0;
    for line in reference::lines(include_str!("../reference/kvitberg-2026-values.csv")) {
        let (pits, seeds) = (line[0].parse::<u64>().unwrap(), line[1].parse::<u64>().unwrap());
        let Some(found) = found.iter().find(|found| found["pits"] == pits && found["seeds"] == seeds) else { continue };
        assert_eq!(found["outcome"], line[2], "S-Kalaha({pits},{seeds})");
        compared += 1;
    }
    assert!(compared > 2 && compared == found.len(), "{compared}");
}
