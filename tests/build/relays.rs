//! The endings of relays agree with sowing, and every other row is in exactly one of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use kalah::game::{Pit, Rules, sow};
use kalah::index::{RowIndex, TableRow, game_row, row_seeds, table_row};
use kalah::rows::{Crossing, Crossings, Moves, OffsetList, Relays, RowMaps, RowMove};
use proptest::prelude::*;

/// The rule set with relays.
const RELAYS: Rules = Rules::SKalaha;

/// Compares all relays of `mover` with sowing, against all other rows with `seeds` seeds. Returns the number of relays.
fn check(relays: &Relays, rows: &RowIndex, mover: &TableRow, seeds: usize) -> usize {
    let pits = rows.pits();
    let others: Vec<TableRow> = (0..rows.rows(seeds) as u32).map(|rank| rows.unrank(seeds, rank)).collect();
    let moves = RowMove::all(RELAYS, pits, mover);
    let relay_moves = moves.filter_map(|(pit, row_move)| match row_move {
        RowMove::Relay { own, spilled } => Some((pit, own, spilled)),
        _ => None,
    });
    let mut played = 0;
    for (pit, own, spilled) in relay_moves {
        let mut met = vec![false; others.len()];
        let mut endings = Vec::new();
        relays.endings(&own, usize::from(spilled), seeds, &mut endings);
        for ending in endings {
            let before = relays.sums().from(seeds, ending.before);
            let after = relays.sums().from(usize::from(ending.opponent), ending.after);
            let fillings = relays.fillings(ending.unmet, usize::from(ending.rest));
            let single = fillings.offsets().iter().map(|&filling| (before.rank(filling), after.rank(filling)));
            let mut ranks = Vec::new();
            before.each_of_both(after, fillings, |before, after| ranks.push((before, after)));
            assert!(single.eq(ranks.iter().copied()), "with and without checks");
            assert!(ranks.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1), "the ranks of an ending ascend");
            for (rank, rank_after) in ranks {
                let other = &others[rank as usize];
                let context = format!("{mover:?} against {other:?}, pit {pit}: {ending:?}");
                assert!(!std::mem::replace(&mut met[rank as usize], true), "met twice: {context}");
                let [mover, other] = [mover, other].map(|row| game_row(pits, row).unwrap());
                let sown = sow(RELAYS, &mover, &other, Pit::from_index(pit).expect("a pit of the board"));
                let (left, opponent) = (table_row(&sown.mover).unwrap(), table_row(&sown.other).unwrap());
                assert_eq!(
                    (usize::from(ending.left), ending.own, usize::from(ending.opponent), rank_after, ending.again),
                    (row_seeds(&left), rows.rank(&left), row_seeds(&opponent), rows.rank(&opponent), sown.again),
                    "{context}"
                );
                played += 1;
            }
        }
        assert!(met.iter().all(|&met| met), "a row of the other side is in no ending: {mover:?}, pit {pit}");
    }
    played
}

#[test]
fn all_rows_of_small_boards() {
    for (pits, mover_seeds, other_seeds) in
        [(1, 40, 7), (2, 24, 6), (3, 12, 5), (4, 9, 4), (5, 6, 4), (7, 5, 3), (8, 4, 3)]
    {
        let rows = RowIndex::new(pits, mover_seeds + other_seeds - 1).unwrap();
        let relays = Relays::new(RELAYS, &rows);
        let ranks = (1..=mover_seeds).flat_map(|seeds| (0..rows.rows(seeds) as u32).map(move |rank| (seeds, rank)));
        let movers = ranks.map(|(seeds, rank)| rows.unrank(seeds, rank));
        let check =
            |mover: TableRow| (1..=other_seeds).map(|other| check(&relays, &rows, &mover, other)).sum::<usize>();
        assert!(movers.map(check).sum::<usize>() > 0);
    }
}

#[test]
#[should_panic(expected = "too many seeds")]
fn more_seeds_than_the_tables_have_are_refused() {
    let rows = RowIndex::new(6, 12).unwrap();
    let relays = Relays::new(RELAYS, &rows);
    // The row has all its seeds, and receives the same number again.
    let all = relays.sums().offsets(12 << 40);
    let list: OffsetList = [all].into_iter().collect();
    let ranks = relays.sums().from(12, all);
    ranks.each_of_both(ranks, &list, |_, _| {});
}

/// Rows of 6 to 8 pits with the most seeds that they can have, and their relays.
fn largest(pits: usize) -> &'static (RowIndex, Relays) {
    static LARGEST: [OnceLock<(RowIndex, Relays)>; 3] = [const { OnceLock::new() }; 3];
    LARGEST[pits - 6].get_or_init(|| {
        let rows = RowIndex::new(pits, 47).unwrap();
        let relays = Relays::new(RELAYS, &rows);
        (rows, relays)
    })
}

/// Strategy for a row that often has most of its seeds in one pit.
fn mover(pits: usize) -> impl Strategy<Value = TableRow> {
    prop::collection::vec(prop_oneof![1 => 0..pits, 1 => Just(1), 1 => Just(pits - 2)], 1..=36).prop_map(|places| {
        let mut row = TableRow::default();
        places.into_iter().for_each(|place| row[place] += 1);
        row
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(768))]

    #[test]
    fn rows_of_large_boards((pits, mover, other) in (6..=8usize).prop_flat_map(|pits| {
        let most_seeds = if pits == 6 { 9 } else { 6usize };
        (Just(pits), mover(pits), 1..=most_seeds)
    })) {
        let (rows, relays) = largest(pits);
        check(relays, rows, &mover, other);
    }
}

#[test]
fn every_relay_is_at_its_crossing_and_none_elsewhere() {
    for (pits, most) in [(1, 9), (2, 9), (3, 16), (6, 11), (7, 6), (8, 5)] {
        let rows = Arc::new(RowIndex::new(pits, most).unwrap());
        let maps = RowMaps::new(Arc::clone(&rows));
        for seeds in 1..=most {
            let mut expected: BTreeMap<Crossing, BTreeSet<u32>> = BTreeMap::new();
            for mover in 0..rows.rows(seeds) as u32 {
                for (_, row_move) in RowMove::all(RELAYS, pits, &rows.unrank(seeds, mover)) {
                    let RowMove::Relay { own, spilled } = row_move else { continue };
                    let crossing = Crossing { left: own.iter().sum(), own: rows.rank(&own), spilled };
                    expected.entry(crossing).or_default().insert(mover);
                }
            }
            let crossings = Crossings::new(rows.rows(seeds), &Moves::new(RELAYS, &maps, seeds));
            let found = crossings.all().iter().enumerate();
            let found: Vec<_> = found.map(|(at, &crossing)| (crossing, crossings.movers(at).to_vec())).collect();
            let expected: Vec<(Crossing, Vec<u32>)> =
                expected.into_iter().map(|(crossing, movers)| (crossing, movers.into_iter().collect())).collect();
            assert_eq!(found, expected, "{pits} pits, {seeds} seeds");
            if (pits, seeds) == (6, 11) {
                // Counted by a separate program.
                assert_eq!(found.len(), 4837);
            }
        }
    }
}
