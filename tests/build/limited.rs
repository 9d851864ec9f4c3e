//! Depth-limited searches: all methods give the same values, and deep searches give the values of the tables.

use kalah::game::{Position, Rules};
use kalah::solve::{Evaluation, LimitedSearch, Method};

use kalah_tests::random::random_position;
use kalah_tests::tables::opened;

/// Random positions with up to `seeds` seeds in play and some in the stores.
fn positions(count: usize, pits: usize, seeds: u32) -> impl Iterator<Item = Position> {
    let mut random = fastrand::Rng::with_seed(7);
    (0..count).map(move |_| {
        let seeds = random.u32(0..=seeds);
        random_position(&mut random, pits, seeds)
    })
}

#[test]
fn all_methods_find_the_value_and_the_first_best_move_of_minimax() {
    for rules in Rules::ALL {
        for evaluation in [Evaluation::Stores, Evaluation::Seeds] {
            for (index, position) in positions(60, 6, 30).enumerate() {
                let depth = index as u32 % 6;
                for par_depth in [0, 1, 3, 9] {
                    let run = |method| LimitedSearch { rules, method, depth, par_depth, evaluation }.run(&position);
                    let right = run(Method::SeqMm);
                    for method in Method::ALL {
                        let found = run(method);
                        let context = || format!("{rules} {position} {} to depth {depth}", method.name());
                        assert_eq!((found.value, found.best), (right.value, right.best), "{}", context());
                        assert!(found.nodes <= right.nodes, "{}", context());
                        assert_eq!(found.best.is_none(), depth == 0 || position.is_over(), "{}", context());
                    }
                }
            }
        }
    }
}

#[test]
fn a_search_to_the_end_of_the_game_finds_the_values_of_the_tables() {
    for rules in Rules::ALL {
        let tables = opened(rules, 3, 8);
        for position in positions(300, 3, 8) {
            let right = position.final_value().unwrap_or_else(|| tables.probe(&position).unwrap().value);
            for method in [Method::SeqAb, Method::ParAb, Method::Ybw] {
                let evaluation = Evaluation::Stores;
                let found = LimitedSearch { rules, method, depth: 1000, par_depth: 2, evaluation }.run(&position);
                assert_eq!(found.value, right, "{rules} {position} {}", method.name());
            }
        }
    }
}

#[test]
fn the_depth_counts_moves_and_the_evaluation_what_is_held() {
    // Of the two moves, only that from the last pit stores a seed.
    let position: Position = "<2,0,0,1,1,5,0>".parse().unwrap();
    let run = |depth, evaluation| {
        let (rules, method) = (Rules::EmptyCapture, Method::SeqMm);
        LimitedSearch { rules, method, depth, par_depth: 0, evaluation }.run(&position)
    };
    assert_eq!(run(0, Evaluation::Stores).value, 0);
    assert_eq!(run(0, Evaluation::Seeds).value, -3);
    let ahead = run(1, Evaluation::Stores);
    assert_eq!((ahead.value, ahead.best.map(|pit| pit.number()), ahead.nodes), (1, Some(2), 3));
}
