//! The loops over bytes: all instruction sets of this machine do what the plain text says.

use std::sync::Arc;

use kalah::build::cpu::kernels;
use kalah::game::mover_score;
use kalah::index::RowIndex;
use kalah::isa::Isa;
use kalah::rows::RowMaps;

#[test]
fn the_loops_over_bytes_turn_scores_as_the_one_function_does() {
    // Longer than any vector, and not a multiple of one.
    let scores: Vec<u8> = (0..=48).cycle().take(49 * 5 + 3).collect();
    let places: Vec<u32> = (0..scores.len() as u32 - 3).rev().collect();
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
            let mut best = vec![before; places.len()];
            kernels::max_after_capture(isa, &mut best, &scores, &places, total);
            check("capture", &best, &mut places.iter().map(|&place| raised(false, scores[place as usize])));
        }
    }
}

#[test]
fn selections_take_the_scores_at_the_ranks_of_the_map() {
    let maps = RowMaps::new(Arc::new(RowIndex::new(6, 24)));
    // From a single row to many; spills that leave words of all kinds, whole, empty and mixed.
    for (seeds, spilled) in (0..=11).flat_map(|seeds| (1..=13).map(move |spilled| (seeds, spilled))) {
        let map = maps.spill(seeds, spilled);
        let scores: Vec<u8> = (0..=250).cycle().take(maps.rows().rows(seeds + spilled)).collect();
        let right: Vec<u8> = map.ranks().iter().map(|&rank| scores[rank as usize]).collect();
        for isa in Isa::available() {
            let mut selected = vec![0; right.len() + 64];
            kernels::select(isa, &scores, &map, &mut selected);
            assert!(selected[..right.len()] == right, "{spilled} spilled into {seeds} seeds with {}", isa.name());
        }
    }
}

#[test]
fn transposing_exchanges_rows_and_columns_of_any_number() {
    let lengths = [1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 130];
    for (rows, columns) in lengths.into_iter().flat_map(|rows| lengths.map(|columns| (rows, columns))) {
        // Rows of both matrices are longer than what is copied, which leaves the rest alone.
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
