//! Ranks: they number every row, frame and layer without gaps, in the order that the build needs.

use std::sync::Arc;

use kalah::game::{Position, Rules, sow};
use kalah::index::{
    Frame, LayerIndex, MAX_TABLE_PITS, MAX_TABLE_SEEDS, RankSet, RowIndex, TableRow, game_row, layer_frames,
    layer_positions, row_count, sequence_position, sequence_rank, sequences, table_row,
};
use kalah::rows::{RowMaps, RowMove};
use proptest::prelude::*;

use kalah_tests::reference;

/// Lists all rows of `pits` pits with exactly `seeds` seeds by exhaustive enumeration, in lexicographic order.
fn rows_found(pits: usize, seeds: u8) -> Vec<TableRow> {
    if pits == 0 {
        return if seeds == 0 { vec![TableRow::default()] } else { Vec::new() };
    }
    let beginning_with = |first| {
        rows_found(pits - 1, seeds - first).into_iter().map(move |mut row| {
            row.rotate_right(1);
            row[0] = first;
            row
        })
    };
    (0..=seeds).flat_map(beginning_with).collect()
}

/// Sum over all seeds of their distance to the last pit.
fn potential(pits: usize, row: &TableRow) -> usize {
    row[..pits].iter().enumerate().map(|(pit, &seeds)| usize::from(seeds) * (pits - 1 - pit)).sum()
}

fn binomial(n: usize, k: usize) -> u64 {
    (1..=k).fold(1u128, |product, i| product * (n - k + i) as u128 / i as u128) as u64
}

/// Strategy for boards whose ranks are drawn at random.
fn large_boards() -> impl Strategy<Value = usize> {
    6..=MAX_TABLE_PITS
}

/// Strategy for a row of `pits` pits with `seeds` seeds.
fn row_with(pits: usize, seeds: usize) -> impl Strategy<Value = TableRow> {
    prop::collection::vec(0..=seeds, pits - 1).prop_map(move |mut cuts| {
        cuts.extend([0, seeds]);
        cuts.sort_unstable();
        let mut row = TableRow::default();
        row.iter_mut().zip(cuts.windows(2)).for_each(|(pit, cuts)| *pit = (cuts[1] - cuts[0]) as u8);
        row
    })
}

#[test]
fn ranks_are_sums_of_terms() {
    for (pits, most) in [(1, 5), (2, 9), (3, 9), (6, 8), (8, 5)] {
        let index = RowIndex::new(pits, most).unwrap();
        let terms = index.rank_terms();
        for seeds in 0..=most {
            for rank in 0..index.rows(seeds) as u32 {
                let row = index.unrank(seeds, rank);
                // The seeds and the potential of the pits after each number of passed ones.
                let sum = (0..=pits.saturating_sub(2)).fold(0u32, |sum, passed| {
                    let mut rest = TableRow::default();
                    rest[..pits - passed].copy_from_slice(&row[passed..pits]);
                    let (seeds, potential) = (rest.iter().sum::<u8>(), potential(pits - passed, &rest));
                    sum.wrapping_add(terms[(passed * (most + 1) + usize::from(seeds)) * index.potentials() + potential])
                });
                assert_eq!(sum, rank, "{row:?}");
            }
        }
    }
}

#[test]
fn ranks_of_rows_ascend_by_potential_then_lexicographically() {
    for (pits, max_seeds) in [(1, 48), (2, 48), (3, 30), (4, 18), (5, 13), (6, 11), (7, 9), (8, 8)] {
        // The index must not depend on its maximum number of seeds.
        let (index, large) = (RowIndex::new(pits, max_seeds).unwrap(), RowIndex::new(pits, MAX_TABLE_SEEDS).unwrap());
        for seeds in 0..=max_seeds {
            let mut right = rows_found(pits, seeds as u8);
            // The sort is stable: rows of equal potential stay in lexicographic order.
            right.sort_by_key(|row| potential(pits, row));
            assert_eq!(index.rows(seeds), right.len());
            assert_eq!(row_count(pits, seeds), right.len());
            let bounds = index.level_bounds(seeds);
            assert_eq!(bounds.len(), (pits - 1) * seeds + 2);
            for (rank, row) in right.iter().enumerate() {
                assert_eq!(index.unrank(seeds, rank as u32), *row);
                assert_eq!(index.rank(row), rank as u32, "{row:?}");
                assert_eq!(large.rank(row), rank as u32, "{row:?}");
                let level = potential(pits, row);
                assert!((bounds[level]..bounds[level + 1]).contains(&(rank as u32)), "{row:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn rank_and_unrank_of_large_rows(
        (pits, seeds, one, two, rank) in (large_boards(), 0..=MAX_TABLE_SEEDS).prop_flat_map(|(pits, seeds)| {
            let rank = 0..row_count(pits, seeds) as u32;
            (Just(pits), Just(seeds), row_with(pits, seeds), row_with(pits, seeds), rank)
        })
    ) {
        let index = RowIndex::new(pits, MAX_TABLE_SEEDS).unwrap();
        let row = index.unrank(seeds, rank);
        prop_assert_eq!(row.iter().map(|&seeds| usize::from(seeds)).sum::<usize>(), seeds);
        prop_assert_eq!(index.rank(&row), rank);
        prop_assert_eq!(index.unrank(seeds, index.rank(&one)), one);
        let order = (potential(pits, &one), one).cmp(&(potential(pits, &two), two));
        prop_assert_eq!(index.rank(&one).cmp(&index.rank(&two)), order);
    }

    #[test]
    fn rank_and_unrank_of_large_layers(
        (pits, mover, other) in (large_boards(), 2..=MAX_TABLE_SEEDS).prop_flat_map(|(pits, seeds)| {
            (1..seeds).prop_flat_map(move |mover| (Just(pits), row_with(pits, mover), row_with(pits, seeds - mover)))
        }),
        at in any::<prop::sample::Index>(),
    ) {
        let rows = RowIndex::new(pits, MAX_TABLE_SEEDS - 1).unwrap();
        let seeds = mover.iter().chain(&other).map(|&seeds| usize::from(seeds)).sum();
        let layer = LayerIndex::new(&rows, seeds);
        prop_assert_eq!(layer.positions(), layer_positions(pits, seeds));
        prop_assert_eq!(layer.unrank(layer.rank(&mover, &other)), (mover, other));
        let rank = at.index(layer.positions() as usize) as u64;
        let (mover, other) = layer.unrank(rank);
        prop_assert_eq!(layer.rank(&mover, &other), rank);
        prop_assert_eq!(mover.iter().chain(&other).map(|&seeds| usize::from(seeds)).sum::<usize>(), seeds);
    }
}

#[test]
fn frames_follow_each_other_and_the_movers_row_runs_fastest() {
    for (pits, max_seeds) in [(1, 30), (2, 14), (3, 9), (4, 7), (5, 6), (6, 6), (7, 5), (8, 5)] {
        let rows = RowIndex::new(pits, max_seeds - 1).unwrap();
        for seeds in 2..=max_seeds {
            let layer = LayerIndex::new(&rows, seeds);
            let mut rank = 0;
            for (frame, mover_seeds) in layer_frames(pits, seeds).zip(1..) {
                assert_eq!(frame, Frame { pits, mover: mover_seeds, other: seeds - mover_seeds });
                assert_eq!(frame.mirrored(), Frame { pits, mover: seeds - mover_seeds, other: mover_seeds });
                let mut index = 0;
                for other_rank in 0..rows.rows(frame.other) as u32 {
                    for mover_rank in 0..rows.rows(frame.mover) as u32 {
                        assert_eq!(frame.index(mover_rank, other_rank), index);
                        assert_eq!(frame.ranks(index), (mover_rank, other_rank));
                        let mover = rows.unrank(frame.mover, mover_rank);
                        let other = rows.unrank(frame.other, other_rank);
                        assert_eq!(layer.unrank(rank), (mover, other));
                        assert_eq!(layer.rank(&mover, &other), rank);
                        index += 1;
                        rank += 1;
                    }
                }
                assert_eq!(frame.positions(), index);
            }
            assert_eq!(layer_frames(pits, seeds).count(), seeds - 1);
            assert_eq!(layer.positions(), rank);
        }
    }
}

/// Checks that each quiet move of `row` lowers its level. The other row is empty, so that no seed of it hides a move.
fn quiet_moves_descend(pits: usize, row: &TableRow) {
    let [mover, empty] = [row, &TableRow::default()].map(|row| game_row(pits, row).unwrap());
    let before = potential(pits, row);
    for rules in Rules::ALL {
        for sown in mover.moves().map(|pit| sow(rules, &mover, &empty, pit)) {
            let is_quiet = sown.stored == 0 && sown.other == empty;
            let after = potential(pits, &table_row(&sown.mover).unwrap());
            assert!(!is_quiet || after < before, "{rules}: {row:?} {:?}", sown.mover);
        }
        for (_, row_move) in RowMove::all(rules, pits, row) {
            if let RowMove::Quiet { own } | RowMove::Capture { uncaptured: Some(own), .. } = row_move {
                assert!(potential(pits, &own) < before, "{rules}: {row:?} {row_move:?}");
            }
        }
    }
}

#[test]
fn quiet_moves_of_all_small_rows_lower_the_level() {
    for (pits, max_seeds) in [(2, 40), (3, 16), (4, 11), (5, 9), (6, 8), (7, 7), (8, 7)] {
        (0..=max_seeds).flat_map(|seeds| rows_found(pits, seeds)).for_each(|row| quiet_moves_descend(pits, &row));
    }
}

proptest! {
    #[test]
    fn quiet_moves_of_large_rows_lower_the_level(
        (pits, row) in (large_boards(), 1..=MAX_TABLE_SEEDS)
            .prop_flat_map(|(pits, seeds)| (Just(pits), row_with(pits, seeds)))
    ) {
        quiet_moves_descend(pits, &row);
    }
}

#[test]
fn spill_maps_sow_on_the_other_row() {
    for (pits, max_seeds) in [(1, 20), (2, 20), (3, 18), (4, 15), (5, 13), (6, 14), (7, 9), (8, 9)] {
        let index = Arc::new(RowIndex::new(pits, max_seeds).unwrap());
        let maps = RowMaps::new(Arc::clone(&index));
        for (seeds, spilled) in (0..=max_seeds).flat_map(|seeds| (0..=max_seeds - seeds).map(move |more| (seeds, more)))
        {
            let map = maps.spill(seeds, spilled);
            assert!(map.ranks().is_sorted_by(|a, b| a < b));
            assert_eq!(map.ranks().len(), index.rows(seeds));
            for (rank, &after) in map.ranks().iter().enumerate() {
                let mut row = index.unrank(seeds, rank as u32);
                (0..spilled).for_each(|seed| row[seed % pits] += 1);
                assert_eq!(after, index.rank(&row), "{spilled} more make {row:?}");
            }
            assert_eq!(map.selected().rows(), index.rows(seeds + spilled));
            assert!(map.selected().ranks().eq(map.ranks().iter().copied()));
        }
    }
}

#[test]
fn capture_maps_take_a_pit() {
    for (pits, max_seeds) in [(1, 20), (2, 20), (3, 18), (4, 12), (5, 10), (6, 10), (7, 8), (8, 8)] {
        let index = Arc::new(RowIndex::new(pits, max_seeds).unwrap());
        let maps = RowMaps::new(Arc::clone(&index));
        let laps = |seeds: usize| (0..=1).filter(move |laps| seeds + laps * pits <= max_seeds);
        let seeds_and_laps = (0..=max_seeds).flat_map(|seeds| laps(seeds).map(move |laps| (seeds, laps)));
        for (seeds, laps, pit) in seeds_and_laps.flat_map(|(seeds, laps)| (0..pits).map(move |pit| (seeds, laps, pit)))
        {
            let map = maps.capture(seeds, pit, laps);
            assert_eq!(map.places().len(), index.rows(seeds));
            // Rows at the places of each segment, according to the sets.
            let remaining: Vec<Vec<u32>> = map.remaining().iter().map(|rows| rows.ranks().collect()).collect();
            let remainders = maps.remainders(seeds, pit);
            for (rank, &place) in map.places().iter().enumerate() {
                let mut row = index.unrank(seeds, rank as u32);
                let held = usize::from(std::mem::take(&mut row[pit]));
                assert_eq!(remainders[rank], index.rank(&row), "{row:?}");
                (0..pits).filter(|&other| other != pit).for_each(|other| row[other] += laps as u8);
                let within = place - map.segments()[held].start;
                assert_eq!(remaining[held][within as usize], index.rank(&row), "{row:?}");
            }
            // Each row is in one part, at the place of its remainder.
            for (block, places) in map.places().chunks(64).enumerate() {
                let mut found = vec![u32::MAX; places.len()];
                for part in map.parts(block) {
                    let rows = (0..64).filter(|bit| part.rows >> bit & 1 == 1);
                    for (row, place) in rows.zip(part.place..) {
                        assert_eq!(std::mem::replace(&mut found[row], place), u32::MAX);
                    }
                }
                assert_eq!(found, places);
            }
        }
    }
}

#[test]
fn rank_sets_have_the_ranks_that_they_were_made_of() {
    for rows in [1, 2, 63, 64, 65, 126, 127, 128, 129, 1000] {
        for step in [1, 2, 7, 64, 200] {
            let ranks = || (0..rows).step_by(step);
            let set = RankSet::new(rows as usize, ranks());
            assert_eq!((set.rows(), set.len(), set.is_empty()), (rows as usize, ranks().count(), false));
            assert!(set.ranks().eq(ranks()));
        }
    }
    assert!(RankSet::new(10, []).is_empty());
    assert!(std::panic::catch_unwind(|| RankSet::new(10, [10])).is_err());
}

#[test]
fn layers_hold_all_positions_with_seeds_in_both_rows() {
    for pits in 1..=MAX_TABLE_PITS {
        for seeds in 2..=MAX_TABLE_SEEDS {
            let all = binomial(seeds + 2 * pits - 1, 2 * pits - 1);
            let one_row_empty = binomial(seeds + pits - 1, pits - 1);
            assert_eq!(layer_positions(pits, seeds), all - 2 * one_row_empty);
        }
    }
}

#[test]
fn published_counts_of_positions() {
    let positions_to = |seeds| (2..=seeds).map(|seeds| layer_positions(6, seeds)).sum::<u64>().to_string();
    for line in reference::lines(include_str!("../reference/rawlings-2015-layers.csv")) {
        let seeds = line[0].parse().unwrap();
        assert_eq!(layer_positions(6, seeds).to_string(), line[1], "{seeds} seeds");
        assert_eq!(positions_to(seeds), line[2], "to {seeds} seeds");
    }
    for line in reference::lines(include_str!("../reference/irving-2000-cumulative-positions.csv")) {
        let seeds = line[0].parse().unwrap();
        assert_eq!(positions_to(seeds), line[1], "to {seeds} seeds");
    }
}

#[test]
fn ranks_of_sequences_have_no_gaps_and_each_leads_back() {
    for (pits, seeds) in [(1, 9), (2, 7), (3, 5), (4, 0), (2, 1)] {
        let count = sequences(pits, seeds).expect("few seeds");
        for rank in 0..count {
            let position = sequence_position(pits, seeds, rank).expect("the rank is below the number of sequences");
            assert_eq!((position.pits(), position.seeds() as usize), (pits, seeds));
            assert_eq!(sequence_rank(&position), Some(rank));
        }
        assert_eq!(sequence_position(pits, seeds, count), None);
    }
    let large = ["6x4", "6x6", "16x5", "12x10", "6x21", "1x127", "8x15"].map(|text| (text, true));
    for (text, has_rank) in large.into_iter().chain(["16x7", "1x128", "6x22"].map(|text| (text, false))) {
        let position: Position = text.parse().expect("a start position");
        let rank = sequence_rank(&position);
        assert_eq!(rank.is_some(), has_rank, "{text}");
        let back = rank.and_then(|rank| sequence_position(position.pits(), position.seeds() as usize, rank));
        assert_eq!(back, has_rank.then_some(position));
    }
}
