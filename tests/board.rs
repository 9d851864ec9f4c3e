//! The fast board against the rules' own, and keys against the boards they number.

use std::collections::HashMap;

use kalah::game::{MAX_PITS, Pit, Position, Row, Rules, sow};
use kalah::solve::{Board, Keys, MAX_BOARD_PITS, MAX_BOARD_SEEDS, Sower};
use proptest::prelude::*;

/// Positions that a board holds: seeds dropped into pits one by one, so that some pits are empty and some full.
fn positions() -> impl Strategy<Value = Position> {
    (1..=MAX_BOARD_PITS, prop::collection::vec((any::<prop::sample::Index>(), 1u32..15), 1..14)).prop_map(
        |(pits, drops)| {
            let mut rows = vec![0; 2 * pits];
            for (place, seeds) in drops {
                let place = place.index(rows.len());
                let room = MAX_BOARD_SEEDS as u32 - rows.iter().sum::<u32>();
                rows[place] += seeds.min(room);
            }
            let row = |seeds| Row::new(seeds).unwrap();
            Position::new(row(&rows[..pits]), row(&rows[pits..]), 0, 0).unwrap()
        },
    )
}

fn unpacked(packed: u64, pits: usize) -> Row {
    Row::new(&packed.to_le_bytes()[..pits].iter().map(|&seeds| u32::from(seeds)).collect::<Vec<_>>()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn sowing_is_that_of_the_rules(position in positions()) {
        let board = Board::of(&position).unwrap();
        prop_assert_eq!(board.seeds(), position.seeds());
        prop_assert_eq!(board.is_over(), position.is_over());
        let pits = position.pits();
        for rules in Rules::ALL {
            let sower = Sower::new(rules, pits, position.seeds() as usize);
            for pit in position.mover().moves() {
                let expected = sow(rules, position.mover(), position.other(), pit);
                let sown = sower.sow(board, pit.index());
                prop_assert_eq!(unpacked(sown.board.mover, pits), expected.mover, "{} move {}", rules, pit);
                prop_assert_eq!(unpacked(sown.board.other, pits), expected.other, "{} move {}", rules, pit);
                prop_assert_eq!((sown.stored, sown.again), (expected.stored, expected.again), "{} move {}", rules, pit);
            }
        }
    }
}

#[test]
fn boards_hold_what_they_say_and_no_more() {
    let position = |pits: usize, first: u32| {
        let mut seeds = [0; MAX_PITS];
        seeds[0] = first;
        let row = Row::new(&seeds[..pits]).unwrap();
        Position::new(row, Row::new(&[0; MAX_PITS][..pits]).unwrap(), 0, 0).unwrap()
    };
    assert!(Board::of(&position(MAX_BOARD_PITS, MAX_BOARD_SEEDS as u32)).is_some());
    assert!(Board::of(&position(MAX_BOARD_PITS + 1, 3)).is_none());
    assert!(Board::of(&position(6, MAX_BOARD_SEEDS as u32 + 1)).is_none());
    // The largest hand of all, sown around the ring many times.
    let largest = position(6, MAX_BOARD_SEEDS as u32);
    let sown = Sower::new(Rules::Standard, 6, MAX_BOARD_SEEDS).sow(Board::of(&largest).unwrap(), 0);
    let expected = sow(Rules::Standard, largest.mover(), largest.other(), Pit::from_index(0).unwrap());
    assert_eq!((unpacked(sown.board.mover, 6), sown.stored), (expected.mover, expected.stored));
}

/// Calls `each` with every board of `pits` pits a side and at most `seeds` seeds.
fn each_board(pits: usize, seeds: u32, each: &mut impl FnMut(Board)) {
    fn fill(places: &mut Vec<u64>, pits: usize, left: u64, each: &mut impl FnMut(Board)) {
        if places.len() == 2 * pits {
            let pack = |row: &[u64]| row.iter().rev().fold(0, |packed, &seeds| packed << 8 | seeds);
            return each(Board { mover: pack(&places[..pits]), other: pack(&places[pits..]) });
        }
        for seeds in 0..=left {
            places.push(seeds);
            fill(places, pits, left - seeds, each);
            places.pop();
        }
    }
    fill(&mut Vec::new(), pits, seeds.into(), each);
}

#[test]
fn keys_number_all_boards_without_gaps() {
    for (pits, seeds) in [(1, 9), (2, 9), (3, 7), (4, 5), (6, 4), (8, 3)] {
        let keys = Keys::new(pits, seeds as usize).unwrap();
        let mut seen = HashMap::new();
        each_board(pits, seeds, &mut |board| {
            let key = keys.key(board);
            assert!(key < keys.count(), "{board:?}");
            assert_eq!(seen.insert(key, board), None, "{board:?}");
        });
        assert_eq!(seen.len() as u64, keys.count(), "{pits} pits, {seeds} seeds");
    }
}

#[test]
fn boards_without_keys_are_told() {
    assert_eq!(Keys::new(6, 48).unwrap().count().ilog2(), 40);
    assert!(Keys::new(8, 80).is_some());
    assert!(Keys::new(8, MAX_BOARD_SEEDS).is_none());
}
