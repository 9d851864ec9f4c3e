//! The packed board agrees with the rules, and keys agree with the boards that they number.

use kalah::game::{MAX_PITS, Position, Row, Rules, sow};
use kalah::solve::{Board, BoardKeys, Sower, Word};
use proptest::prelude::*;

use kalah_tests::small_boards::{each_position, each_position_of};

/// Strategy for positions that a word holds. Seeds are dropped into pits one by one, so that some pits are empty and
/// some full.
fn positions<W: Word>() -> impl Strategy<Value = Position> {
    let seeds = prop_oneof![9 => 1u32..15, 1 => 15..W::SEEDS as u32];
    (1..=W::PITS, prop::collection::vec((any::<prop::sample::Index>(), seeds), 1..2 * W::PITS)).prop_map(
        |(pits, drops)| {
            let mut rows = vec![0; 2 * pits];
            for (place, seeds) in drops {
                let place = place.index(rows.len());
                let room = W::SEEDS as u32 - rows.iter().sum::<u32>();
                rows[place] += seeds.min(room);
            }
            let row = |seeds| Row::new(seeds).unwrap();
            Position::new(row(&rows[..pits]), row(&rows[pits..]), 0, 0).unwrap()
        },
    )
}

fn assert_sowing_is_that_of_the_rules<W: Word>(position: &Position) -> Result<(), TestCaseError> {
    let board = Board::<W>::of(position).unwrap();
    prop_assert_eq!(board.seeds(), position.seeds());
    prop_assert_eq!(board.is_over(), position.is_over());
    let pits = position.pits();
    prop_assert_eq!(board.mover.filled() as usize, position.mover().moves().count());
    let held = |pit: usize| position.mover().seeds().get(pit).map_or(0, |&seeds| seeds.min(15) as u8);
    for (index, pair) in board.mover.nibbles().bytes().step_by(2).enumerate() {
        prop_assert_eq!(pair, held(2 * index) | held(2 * index + 1) << 4, "pits {} and the next", 2 * index);
    }
    for rules in Rules::ALL {
        assert_sown_alike(&Sower::<W>::new(rules, pits, position.seeds() as usize).unwrap(), position);
    }
    Ok(())
}

/// Plays every move of a position with a sower and by the rules, and compares the results.
fn assert_sown_alike<W: Word>(sower: &Sower<W>, position: &Position) {
    let (rules, pits, board) = (sower.rules(), position.pits(), Board::of(position).unwrap());
    for pit in position.mover().moves() {
        let right = sow(rules, position.mover(), position.other(), pit);
        let sown = sower.sow(board, pit.index());
        let after = Position::new(right.mover, right.other, 0, 0).unwrap();
        assert_eq!(sown.board.position(pits), Some(after), "{rules} {position} move {pit}");
        assert_eq!((sown.stored, sown.again), (right.stored, right.again), "{rules} {position} move {pit}");
    }
}

#[test]
fn all_moves_of_small_boards_are_those_of_the_rules() {
    const SEEDS: usize = 40;
    for rules in Rules::ALL {
        let narrow: Vec<_> = (1..=8).map(|pits| Sower::<u64>::new(rules, pits, SEEDS).unwrap()).collect();
        let wide: Vec<_> = (1..=8).map(|pits| Sower::<u128>::new(rules, pits, SEEDS).unwrap()).collect();
        each_position(|position| {
            assert_sown_alike(&narrow[position.pits() - 1], position);
            assert_sown_alike(&wide[position.pits() - 1], position);
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn sowing_in_64_bits_is_that_of_the_rules(position in positions::<u64>()) {
        assert_sowing_is_that_of_the_rules::<u64>(&position)?;
        assert_sowing_is_that_of_the_rules::<u128>(&position)?;
    }

    #[test]
    fn sowing_in_128_bits_is_that_of_the_rules(position in positions::<u128>()) {
        assert_sowing_is_that_of_the_rules::<u128>(&position)?;
    }

    #[test]
    fn words_agree_on_keys(position in positions::<u64>()) {
        let (pits, seeds) = (position.pits(), position.seeds() as usize);
        let wide = BoardKeys::<u128>::new(pits, seeds).unwrap().key(Board::of(&position).unwrap());
        if let Some(keys) = BoardKeys::<u64>::new(pits, seeds) {
            prop_assert_eq!(u128::from(keys.key(Board::of(&position).unwrap())), wide);
        }
    }
}

fn assert_boards_hold_what_they_say_and_no_more<W: Word>() {
    let position = |pits: usize, first: u32| {
        let mut seeds = [0; MAX_PITS];
        seeds[0] = first;
        let row = Row::new(&seeds[..pits]).unwrap();
        Position::new(row, Row::new(&[0; MAX_PITS][..pits]).unwrap(), 0, 0).unwrap()
    };
    assert!(Board::<W>::of(&position(W::PITS, W::SEEDS as u32)).is_some());
    assert!(W::PITS == MAX_PITS || Board::<W>::of(&position(W::PITS + 1, 3)).is_none());
    assert!(Board::<W>::of(&position(6, W::SEEDS as u32 + 1)).is_none());
    // The largest possible hand, sown around the ring many times.
    assert_sown_alike(&Sower::<W>::new(Rules::Standard, 6, W::SEEDS).unwrap(), &position(6, W::SEEDS as u32));
}

#[test]
fn boards_hold_what_they_say_and_no_more() {
    assert_boards_hold_what_they_say_and_no_more::<u64>();
    assert_boards_hold_what_they_say_and_no_more::<u128>();
}

fn assert_keys_number_all_boards_without_gaps<W: Word + Into<u128>>(pits: usize, seeds: u32) {
    let keys = BoardKeys::<W>::new(pits, seeds as usize).unwrap();
    let mut found: Vec<u128> = Vec::new();
    each_position_of(pits, seeds, |position| found.push(keys.key(Board::of(position).unwrap()).into()));
    found.sort_unstable();
    assert!(found.into_iter().eq(0..keys.count()), "{pits} pits, {seeds} seeds");
}

#[test]
fn keys_number_all_boards_without_gaps() {
    for (pits, seeds) in [(1, 9), (2, 9), (3, 7), (4, 5), (6, 4), (8, 3)] {
        assert_keys_number_all_boards_without_gaps::<u64>(pits, seeds);
        assert_keys_number_all_boards_without_gaps::<u128>(pits, seeds);
    }
    for (pits, seeds) in [(1, 200), (9, 4), (10, 3), (13, 3), (16, 3)] {
        assert_keys_number_all_boards_without_gaps::<u128>(pits, seeds);
    }
}

#[test]
fn the_last_key_of_the_largest_boards_is_that_of_all_seeds_in_the_first_pit() {
    for (pits, seeds) in [(1, 255), (2, 255), (8, 255), (9, 255), (13, 255), (14, 247), (15, 211), (16, 183)] {
        let keys = BoardKeys::<u128>::new(pits, seeds).unwrap();
        let [empty, full] = [0, seeds as u8].map(|seeds| u128::pack([seeds].into_iter()));
        let key = |mover, other| keys.key(Board { mover, other });
        assert_eq!((key(empty, empty), key(full, empty)), (0, keys.count() - 1), "{pits} pits, {seeds} seeds");
        // The last key among those with the same row of the mover.
        let beside = (1..=pits as u128).fold(1, |product, i| product * (seeds as u128 + i) / i);
        assert_eq!(key(empty, full), beside - 1);
    }
}

#[test]
fn boards_without_keys_are_recognized() {
    assert_eq!(BoardKeys::<u64>::new(6, 48).unwrap().count().ilog2(), 40);
    assert!(BoardKeys::<u64>::new(8, 95).is_some() && BoardKeys::<u64>::new(8, 96).is_none());
    assert!(BoardKeys::<u64>::new(9, 1).is_none() && BoardKeys::<u64>::new(1, 128).is_none());
    assert!(BoardKeys::<u128>::new(16, 183).is_some() && BoardKeys::<u128>::new(16, 184).is_none());
    assert!(BoardKeys::<u128>::new(13, 255).is_some() && BoardKeys::<u128>::new(1, 256).is_none());
    assert!(BoardKeys::<u128>::new(17, 1).is_none() && BoardKeys::<u128>::new(0, 1).is_none());
}
