//! The effect of a move computed from the mover's row alone is its effect on the whole board.

use kalah::game::{Row, Rules, sow};
use kalah::index::{MAX_TABLE_PITS, RowIndex, TableRow, game_row};
use kalah::rows::RowMove;
use proptest::prelude::*;

fn row(pits: usize, seeds: &TableRow) -> Row {
    game_row(pits, seeds).unwrap()
}

fn sum(row: &TableRow) -> u8 {
    row.iter().sum()
}

/// Returns the rows after `row_move` with this other row, and true if the mover moves again.
///
/// Returns `None` if a relay goes on from the other row. The seeds that `row_move` counts must be those missing in the
/// rows.
fn outcome(pits: usize, row_move: RowMove, mover: &TableRow, other: &TableRow) -> Option<(TableRow, TableRow, bool)> {
    let spill = |spilled: u8| {
        let mut other = *other;
        (0..usize::from(spilled)).for_each(|seed| other[seed % pits] += 1);
        other
    };
    let missing = |own: &TableRow, after: &TableRow| sum(mover) + sum(other) - sum(own) - sum(after);
    match row_move {
        RowMove::Again { own, stored, spilled } => {
            let after = spill(spilled);
            assert_eq!(missing(&own, &after), stored);
            Some((own, after, true))
        }
        RowMove::Pass { own, spilled } => {
            let after = spill(spilled);
            assert!(missing(&own, &after) > 0, "a turn that stores nothing is quiet");
            Some((own, after, false))
        }
        RowMove::Quiet { own } => Some((own, *other, false)),
        RowMove::Capture { own, stored, spilled, pit, uncaptured } => {
            let mut after = spill(spilled);
            let captured = std::mem::take(&mut after[pit]);
            match uncaptured {
                Some(own) if captured == 0 => Some((own, after, false)),
                _ => {
                    assert_eq!(missing(&own, &after), stored + captured);
                    Some((own, after, false))
                }
            }
        }
        RowMove::Relay { own, spilled } => {
            let after = spill(spilled);
            let last = (usize::from(spilled) - 1) % pits;
            // In an empty pit the turn ends. From any other pit the relay goes on.
            (after[last] == 1).then_some((own, after, false))
        }
    }
}

/// Compares all moves of `mover` with sowing. Returns the number of relays that go on from the other row.
fn check(rules: Rules, pits: usize, mover: &TableRow, other: &TableRow) -> usize {
    let (mover_row, other_row) = (row(pits, mover), row(pits, other));
    let mut moves = RowMove::all(rules, pits, mover);
    let mut relays = 0;
    for pit in mover_row.moves() {
        let (index, row_move) = moves.next().expect("every legal move");
        assert_eq!(index, pit.index());
        let context = || format!("{rules}, {mover:?} against {other:?}, move {pit}: {row_move:?}");
        assert!(rules.relays() || !matches!(row_move, RowMove::Relay { .. }), "{}", context());
        match outcome(pits, row_move, mover, other) {
            None => relays += 1,
            Some((own, after, again)) => {
                let sown = sow(rules, &mover_row, &other_row, pit);
                let found = (row(pits, &own), row(pits, &after), again);
                assert_eq!(found, (sown.mover, sown.other, sown.again), "{}", context());
            }
        }
    }
    assert_eq!(moves.next(), None, "moves of empty pits");
    relays
}

/// All rows of `pits` pits with up to `seeds` seeds.
fn all_rows(pits: usize, seeds: usize) -> Vec<TableRow> {
    let index = RowIndex::new(pits, seeds).unwrap();
    (0..=seeds)
        .flat_map(|seeds| (0..index.rows(seeds) as u32).map(move |rank| (seeds, rank)))
        .map(|(seeds, rank)| index.unrank(seeds, rank))
        .collect()
}

#[test]
fn all_rows_of_small_boards() {
    for (pits, mover_seeds, other_seeds) in [(1, 48, 8), (2, 24, 6), (3, 12, 4), (4, 9, 3), (7, 4, 2), (8, 4, 2)] {
        let (movers, others) = (all_rows(pits, mover_seeds), all_rows(pits, other_seeds));
        for rules in Rules::ALL {
            let relays: usize =
                movers.iter().flat_map(|mover| others.iter().map(move |other| check(rules, pits, mover, other))).sum();
            assert_eq!(relays > 0, rules.relays());
        }
    }
}

/// Strategy for two rows of `pits` pits with up to 48 seeds together, often most of them in one pit.
fn two_rows(pits: usize) -> impl Strategy<Value = (TableRow, TableRow)> {
    prop_oneof![
        prop::collection::vec(0..2 * pits, 0..=48),
        prop::collection::vec(prop_oneof![1 => 0..2 * pits, 2 => Just(1), 2 => Just(4)], 0..=48),
    ]
    .prop_map(move |places| {
        let mut rows = (TableRow::default(), TableRow::default());
        for place in places {
            if place < pits { rows.0[place] += 1 } else { rows.1[place - pits] += 1 }
        }
        rows
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn large_boards((pits, (mover, other)) in (6..=MAX_TABLE_PITS).prop_flat_map(|pits| (Just(pits), two_rows(pits)))) {
        for rules in Rules::ALL {
            check(rules, pits, &mover, &other);
        }
    }
}
