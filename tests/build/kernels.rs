//! The loops over bytes: every instruction set of this machine gives the results of the plain code.

use std::sync::Arc;

use kalah::build::cpu::kernels;
use kalah::game::mover_score;
use kalah::index::{Frame, RankSet, RowIndex};
use kalah::isa::Isa;
use kalah::rows::RowMaps;
use kalah::table::{PackedFrame, SELECTED_MARGIN};

#[test]
fn the_loops_over_bytes_turn_scores_as_the_one_function_does() {
    // Longer than any vector, and not a multiple of one.
    let scores: Vec<u8> = (0..=48).cycle().take(49 * 5 + 3).collect();
    for isa in Isa::available() {
        for (before, total, stored) in [(0, 48, 1), (7, 48, 13), (20, 96, 48)] {
            let raised = |again, score: u8| mover_score(again, stored, total, score).max(before);
            let check = |name: &str, found: &[u8], right: &mut dyn Iterator<Item = u8>| {
                assert!(found.iter().copied().eq(right), "{name} with {}, {total} seeds, {stored} stored", isa.name());
            };
            let mut best = vec![before; scores.len()];
            kernels::max_after_again(isa, &mut best, &scores, stored);
            check("again", &best, &mut scores.iter().map(|&score| raised(true, score)));
            best.fill(before);
            kernels::max_after_pass(isa, &mut best, &scores, total);
            check("pass", &best, &mut scores.iter().map(|&score| raised(false, score)));
            best.fill(before);
            let mask: Vec<u8> = scores.iter().map(|score| if score % 3 == 0 { 0xff } else { 0 }).collect();
            kernels::max_after_pass_masked(isa, &mut best, &scores, &mask, total);
            let masked = |(&score, &mask)| if mask > 0 { raised(false, score) } else { before };
            check("masked pass", &best, &mut scores.iter().zip(&mask).map(masked));
            best.fill(before);
            kernels::max(isa, &mut best, &scores);
            check("maximum", &best, &mut scores.iter().map(|&score| before.max(score)));
        }
    }
}

#[test]
fn captures_take_the_scores_at_the_places_of_the_map() {
    let maps = RowMaps::new(Arc::new(RowIndex::new(6, 12).unwrap()));
    for (seeds, pit) in (0..=12).flat_map(|seeds| (0..6).map(move |pit| (seeds, pit))) {
        let map = maps.capture(seeds, pit, 0);
        let scores: Vec<u8> = (0..=47).cycle().take(map.places().len() + kernels::CAPTURE_MARGIN).collect();
        let right = map.places().iter().map(|&place| mover_score(false, 0, 48, scores[place as usize]).max(20));
        for isa in Isa::available() {
            let mut best = vec![20; map.places().len()];
            kernels::max_after_capture(isa, &mut best, &scores, &map, 48);
            assert!(best.iter().copied().eq(right.clone()), "pit {pit} of {seeds} seeds with {}", isa.name());
        }
    }
}

#[test]
fn selected_scores_are_those_of_the_frame() {
    let maps = RowMaps::new(Arc::new(RowIndex::new(6, 24).unwrap()));
    let mut random = fastrand::Rng::with_seed(7);
    // Runs of one group and of many, with different first places in a group. None, some or most of the groups have
    // exceptions.
    for (mover, other, odd) in [(1, 3, 0), (2, 4, 30), (4, 5, 0), (5, 3, 400), (9, 2, 30), (9, 2, 2)] {
        let frame = Frame { pits: 6, mover, other };
        let score = |_| if odd > 0 && random.u16(0..odd) == 0 { random.u8(0..64) } else { random.u8(20..30) };
        let scores: Vec<u8> = (0..frame.positions()).map(score).collect();
        let rows = frame.mover_rows();
        // From one row to all rows. The sets leave words of all kinds: whole, empty and mixed.
        let spills = (0..=mover).map(|spilled| maps.spill(mover - spilled, spilled).selected().clone());
        let empty = (0..6).map(|pit| RankSet::clone(&maps.empty_ranks(mover, pit, 0)));
        let none = RankSet::new(rows, []);
        for isa in Isa::available() {
            let packed = PackedFrame::pack(isa, frame, &scores);
            for selected in spills.clone().chain(empty.clone()).chain([none.clone()]) {
                let mut found = vec![0xee; selected.len() + SELECTED_MARGIN];
                for (other, run) in (0..).zip(scores.chunks_exact(rows)) {
                    packed.scores().unpack_selected(isa, other, &selected, &mut found).unwrap();
                    let right = selected.ranks().map(|rank| run[rank as usize]);
                    let found = found[..selected.len()].iter().copied();
                    assert!(found.eq(right), "{frame:?}, row {other}, {selected:?} with {}", isa.name());
                }
            }
        }
    }
}

#[test]
fn transposing_exchanges_rows_and_columns_of_any_number() {
    let lengths = [1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 130];
    for (rows, columns) in lengths.into_iter().flat_map(|rows| lengths.map(|columns| (rows, columns))) {
        // The rows of both matrices are longer than the part that is copied. The rest must not change.
        let (from_stride, to_stride) = (columns + 3, rows + 5);
        let from: Vec<u8> = (0..rows * from_stride).map(|place| (place % 251) as u8).collect();
        for isa in Isa::available() {
            let mut to = vec![0xff; columns * to_stride];
            kernels::transpose(isa, &from, from_stride, rows, columns, &mut to, to_stride);
            for (column, line) in to.chunks_exact(to_stride).enumerate() {
                let right = |row: usize| if row < rows { from[row * from_stride + column] } else { 0xff };
                let right: Vec<u8> = (0..to_stride).map(right).collect();
                assert_eq!(line, right, "column {column} of {rows} x {columns} with {}", isa.name());
            }
        }
    }
}
