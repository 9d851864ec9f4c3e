//! Estimates of game-tree complexity are reproducible and close to the published ones.
#![cfg(feature = "cli")]

use kalah::analyse::complexity::{Players, Sampling};
use kalah::game::Rules;
use kalah_tests::program::{self, Ran, Run};

use crate::start;

const RANDOM: Sampling =
    Sampling { rules: Rules::SKalaha, players: Players::Random, until_decided: false, games: 100, seed: 1 };

#[test]
fn the_seed_makes_the_games() {
    for players in [Players::Random, Players::AlphaBeta { depth: 4 }] {
        let sampling = Sampling { games: 20, rules: Rules::Standard, players, ..RANDOM };
        let run = |threads: usize, seed: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Sampling { seed, ..sampling }.run(start(4, 3)).unwrap())
        };
        assert_eq!(run(1, 5), run(3, 5), "{players:?}");
        assert_ne!(run(1, 5).games, run(1, 6).games, "{players:?}");
    }
}

#[test]
fn games_that_leave_no_choice() {
    // With one pit a side, every position has one move.
    for rules in Rules::ALL {
        let found = Sampling { rules, ..RANDOM }.run(start(1, 5)).unwrap();
        assert_eq!((found.branching.mean, found.tree.mean), (1.0, 0.0), "{rules}");
        assert_eq!((found.length.low, found.length.high), (found.length.mean, found.length.mean), "{rules}");
    }
    // Without seeds the game is over from the start.
    let nothing = RANDOM.run(start(2, 0)).unwrap();
    assert_eq!((nothing.length.mean, nothing.branching.mean), (0.0, 1.0));
    assert!(RANDOM.run(start(17, 1)).is_err());
}

#[test]
fn players_that_see_the_end_take_the_line_of_best_play() {
    // Kalah(2,1) is won by 2 with the moves 2 1, and by no other line.
    let players = Players::AlphaBeta { depth: 7 };
    let found = Sampling { rules: Rules::EmptyCapture, players, ..RANDOM }.run(start(2, 1)).unwrap();
    assert!(found.games.iter().all(|game| (game.plies, game.moves) == (2, 3)));
}

#[test]
fn a_decided_game_is_shorter() {
    let until_decided = Sampling { until_decided: true, ..RANDOM }.run(start(4, 4)).unwrap();
    let to_the_end = RANDOM.run(start(4, 4)).unwrap();
    // The same random numbers give the same games, cut off earlier.
    let shorter = until_decided.games.iter().zip(&to_the_end.games);
    assert!(shorter.clone().all(|(cut, whole)| cut.plies <= whole.plies && cut.moves <= whole.moves));
    assert!(shorter.filter(|(cut, whole)| cut.plies < whole.plies).count() > 10);
}

#[test]
fn intervals_hold_the_mean_and_narrow_with_more_games() {
    let width = |games: usize| {
        let found = Sampling { games, ..RANDOM }.run(start(4, 4)).unwrap();
        for estimate in [found.length, found.branching, found.tree] {
            assert!(estimate.low < estimate.mean && estimate.mean < estimate.high, "{estimate:?}");
        }
        found.length.high - found.length.low
    };
    // A hundred times as many games give about a tenth of the width.
    let (few, many) = (width(100), width(10_000));
    assert!((0.05..0.2).contains(&(many / few)), "{few} {many}");
}

#[test]
fn kvitberg_2026_table_3() {
    // b^d of 100 random games of each board. The published figure for (5,1) is ten times too large, surely a misprint
    // of 2.83e5. All others are within 3.5 standard deviations of the result of 100 games.
    let published = [
        (2, [3.72e0, 4.71e0, 5.61e1, 5.59e1, 9.4e1, 4.4e1]),
        (3, [7.85e0, 9.98e2, 1.72e4, 2.14e5, 6.00e5, 4.2e6]),
        (4, [2.47e3, 3.73e6, 2.49e9, 4.77e11, 1.36e13, 1.73e14]),
        (5, [2.83e6, 6.96e11, 2.07e16, 2.64e19, 5.36e22, 1.33e24]),
        (6, [6.14e9, 3.18e18, 1.4e25, 2.7e29, 1.97e34, 3.09e37]),
    ];
    let mut far = Vec::new();
    for (pits, row) in published {
        for (seeds, tree) in (1..).zip(row) {
            let games = 2000;
            let found = Sampling { games, ..RANDOM }.run(start(pits, seeds)).unwrap().tree;
            let deviation = (found.high - found.low) / 3.92 * f64::sqrt(games as f64 / 100.0);
            if (f64::log10(tree) - found.mean).abs() > 3.5 * deviation {
                far.push((pits, seeds));
            }
        }
    }
    assert_eq!(far, [(5, 1)]);
}

#[test]
fn the_command_is_reproducible() {
    let run = |line: &str| program::command().args(["analyse", "complexity"]).args(line.split(' ')).run();
    let boards = |more: &str| {
        let line = format!("--pits 2..3 --seeds-per-pit 1..2 --games 10 --depth 3 --json{more}");
        run(&line).success().json()["boards"].take()
    };
    let first = boards("");
    assert_eq!(first.as_array().unwrap().len(), 4);
    assert_eq!(boards(" --threads 1"), first);
    assert_ne!(boards(" --seed 2"), first);
    let table = run("2x1 4x2 --games 5 --players random").printed();
    assert_eq!(table.lines().filter(|line| line.contains("w^d")).count(), 1, "{table}");
    run("2x1 --games 0").exits(2);
}
