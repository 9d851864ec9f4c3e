//! What a probe says of any position fits the rules of the game, and itself.

use std::path::Path;

use kalah::game::{Pit, Position, Row, Rules};
use kalah::table::{ProbeError, TableKey, Tables};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

const PITS: usize = 4;
const SEEDS: usize = 12;

fn build(directory: &Path, rules: Rules, seeds: usize) -> Tables {
    kalah::build::build(directory, rules, PITS, seeds).unwrap();
    Tables::open(directory, rules, PITS, seeds).unwrap()
}

/// Positions inside the tables, with stores that may hold anything; some of them over.
fn positions() -> impl Strategy<Value = Position> {
    let places = prop::collection::vec(0..2 * PITS, 0..=SEEDS);
    (places, 0..1000u32, 0..1000u32).prop_map(|(places, mover_store, other_store)| {
        let mut seeds = [0; 2 * PITS];
        places.into_iter().for_each(|place| seeds[place] += 1);
        let row = |seeds: &[u32]| Row::new(seeds).unwrap();
        Position::new(row(&seeds[..PITS]), row(&seeds[PITS..]), mover_store, other_store).unwrap()
    })
}

#[test]
fn the_line_is_worth_the_value_and_no_move_is_worth_more() {
    for rules in Rules::ALL {
        let directory = tempfile::tempdir().unwrap();
        let tables = build(directory.path(), rules, SEEDS);
        let law = |position: Position| {
            let probe = tables.probe(&position).unwrap();
            prop_assert_eq!(probe.value, position.value(probe.score));

            let end = probe.line.replay(rules, &position).unwrap();
            prop_assert!(end.is_over());
            let outcome = end.value(end.mover().total());
            let same_side = probe.line.turns().len().is_multiple_of(2);
            prop_assert_eq!(probe.value, if same_side { outcome } else { -outcome });

            let legal: Vec<Pit> = position.moves().collect();
            prop_assert_eq!(probe.moves.iter().map(|&(pit, _)| pit).collect::<Vec<_>>(), legal);
            for &(pit, score) in &probe.moves {
                let played = position.play(rules, pit).unwrap();
                let next = tables.probe(&played.position).unwrap().value;
                prop_assert_eq!(position.value(score), if played.again { next } else { -next }, "move {}", pit);
            }
            match probe.moves.iter().map(|&(_, score)| score).max() {
                Some(best) => prop_assert_eq!(probe.score, best),
                None => prop_assert_eq!(probe.score, position.mover().total()),
            }
            let first = probe.line.turns().first().map(|turn| turn[0]);
            prop_assert_eq!(first, probe.best().last(), "the best move nearest the store");
            Ok(())
        };
        TestRunner::default().run(&positions(), law).unwrap();
    }
}

#[test]
fn what_no_table_holds_is_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let tables = build(directory.path(), Rules::Standard, 6);
    let probe = |text: &str| tables.probe(&text.parse().unwrap());
    match probe("<4,0,0,1,2,0,0,1,0,3,0>") {
        Err(ref error @ ProbeError::AboveTables { key, ref missing, .. }) => {
            assert_eq!(key, TableKey { rules: Rules::Standard, pits: 4, seeds: 7 });
            assert_eq!(missing, &[7]);
            assert!(error.to_string().contains("7 seeds in play, and layer 7 is missing in"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(probe("3x1"), Err(ProbeError::OtherPits { pits: 3, tables: 4, .. })));
    assert!(matches!(probe("7x1"), Err(ProbeError::BeyondTables { .. })));
    assert!(matches!(probe("300,0,0,0/0,0,0,1"), Err(ProbeError::BeyondTables { .. })));
    // A game that is over needs no table.
    assert_eq!(probe("<7,5,9,0,0,0,0,0,0,0,300,0,0,0,0,0,0>").unwrap().value, 5 - 9 - 300);
}
