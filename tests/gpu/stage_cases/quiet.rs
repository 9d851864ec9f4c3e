use std::ops::Range;

use fastrand::Rng;
use kalah::build::gpu::stages::{NO_MOVE, Quiet, RANK_BITS, Stage, TILE, Transpose};
use kalah::index::MAX_TABLE_PITS;

use super::{
    Run, TOTAL, at_least_four, base_before, changed, random_part, random_shape, random_words, some, until_enough,
    window, words_before, workgroups,
};

/// Makes quiet moves of `rows` rows to rows of a range: first the index of each row's moves, then the moves.
fn quiet_moves(rng: &mut Rng, rows: usize, pits: u32, to: &Range<u32>) -> (Vec<u32>, u32) {
    let (mut words, mut quiet) = (vec![0], Vec::new());
    for _ in 0..rows {
        if !to.is_empty() {
            quiet.extend(some(rng, |rng| rng.u32(to.clone()) | rng.u32(0..=pits) << RANK_BITS));
        }
        words.push(quiet.len() as u32);
    }
    let at = words.len() as u32;
    words.extend(quiet);
    (at_least_four(words), at)
}

/// Makes quiet moves of rows, four rows at a time, after some other words. Also returns their offset.
fn quads(rng: &mut Rng, rows: usize, pits: u32) -> (Vec<u32>, u32) {
    let at = 4 * rng.usize(0..3);
    let mut words = words_before(rng, at);
    let mut entries: Vec<u32> = Vec::new();
    let first = (at / 4 + rows.div_ceil(4)) as u32;
    for four in 0..rows.div_ceil(4) {
        let begin = first + entries.len() as u32 / 4;
        let count = rng.usize(0..6);
        for row in (0..count).flat_map(|_| 4 * four..4 * four + 4) {
            let row = row.min(rows - 1) as u32;
            let is_move = row > 0 && rng.u8(0..4) > 0;
            let quiet = |rng: &mut Rng| rng.u32(0..row) | rng.u32(0..=pits) << RANK_BITS;
            entries.push(if is_move { quiet(rng) } else { row | NO_MOVE << RANK_BITS });
        }
        words.extend([begin, begin + count as u32, rng.u32(..), rng.u32(..)]);
    }
    words.extend(entries);
    (words, at as u32)
}

/// Contents of one pit in each row.
fn captures(rng: &mut Rng, pits: u32, rows: usize) -> Vec<u32> {
    let place = |rng: &mut Rng| (rng.u32(..) % 1000) | if rng.bool() { 0 } else { rng.u32(1..40) << RANK_BITS };
    (0..pits as usize * rows.next_multiple_of(4)).map(|_| place(rng)).collect()
}

pub(super) fn large(on: &mut impl Run) {
    let mut raised = 0;
    until_enough(on, 15, |on, rng| {
        let (rows, columns) = random_shape(rng, 60_000);
        let (words, pits) = (columns.div_ceil(4), rng.u32(1..=MAX_TABLE_PITS as u32));
        let part = random_part(rng, rows);
        let lowest = rng.usize(0..=part.start);
        let (moves, entries_at) = quiet_moves(rng, rows, pits, &(lowest as u32..part.start as u32));
        let map = captures(rng, pits, columns);
        // A window has some of the rows to which moves lead.
        let children = random_part(rng, part.start.max(lowest + 1) - lowest);
        let children = lowest + children.start..lowest + children.end;
        let (small_base, small) = window(rng, &children, words, TOTAL);
        let (large_base, large) = window(rng, &part, words, 20);
        let params = Quiet {
            threads: (part.len() * words) as u32,
            first_row: part.start as u32,
            words: words as u32,
            total: TOTAL,
            moves_at: entries_at,
            small_base,
            large_base,
            first_child: children.start as u32,
            child_rows: children.len() as u32,
            ..Quiet::default()
        };
        let buffers = vec![moves, map, small, large.clone()];
        let made = on.run(Stage::QuietLarge, &params, workgroups(params.threads), buffers);
        raised += changed(&made[3], &large);
        part.len() * words
    });
    assert!(raised > on.enough() / 10, "only {raised} words were raised");
}

pub(super) fn small(on: &mut impl Run) {
    let mut raised = 0;
    until_enough(on, 6, |on, rng| {
        let (rows, columns) = random_shape(rng, 60_000);
        let (words, pits) = (columns.div_ceil(4), rng.u32(1..=MAX_TABLE_PITS as u32));
        let part = random_part(rng, rows);
        let (moves, quads_at) = quads(rng, columns, pits);
        let map = captures(rng, pits, rows);
        let (large_base, large) = window(rng, &part, words, TOTAL);
        let (small_base, small) = window(rng, &part, words, 20);
        let params = Quiet {
            threads: (part.len() * words) as u32,
            first_row: part.start as u32,
            words: words as u32,
            total: TOTAL,
            moves_at: quads_at,
            map_stride: rows.next_multiple_of(4) as u32,
            small_base,
            large_base,
            ..Quiet::default()
        };
        let buffers = vec![moves, map, large, small.clone()];
        let made = on.run(Stage::QuietSmall, &params, workgroups(params.threads), buffers);
        raised += changed(&made[3], &small);
        part.len() * words
    });
    assert!(raised > on.enough() / 10, "only {raised} words were raised");
}

pub(super) fn transpose(on: &mut impl Run) {
    until_enough(on, 7, |on, rng| {
        let (rows, columns) = random_shape(rng, 90_000);
        let tile = TILE as usize;
        // A part begins with a word, and ends with a word or with the matrix.
        let whole_words = |rng: &mut Rng, count: usize| {
            let part = random_part(rng, count.div_ceil(4));
            4 * part.start..(4 * part.end).min(count)
        };
        let (some_rows, some_columns) = (whole_words(rng, rows), whole_words(rng, columns));
        let (from_words, to_words) = (columns.div_ceil(4), rows.div_ceil(4));
        let from_base = base_before(rng, some_rows.start * from_words);
        let to_base = base_before(rng, some_columns.start * to_words);
        let from = random_words(rng, some_rows.end * from_words - from_base);
        let to = random_words(rng, some_columns.end * to_words - to_base);
        let across = some_columns.len().div_ceil(tile);
        let params = Transpose {
            rows: some_rows.end as u32,
            columns: some_columns.end as u32,
            first_row: some_rows.start as u32,
            first_column: some_columns.start as u32,
            tiles: across as u32,
            from_words: from_words as u32,
            from_base: from_base as u32,
            to_words: to_words as u32,
            to_base: to_base as u32,
        };
        let workgroups = (across * some_rows.len().div_ceil(tile)) as u32;
        let made = on.run(Stage::Transpose, &params, workgroups, vec![from.clone(), to.clone()]);
        // The expected result, computed independently.
        let byte = |words: &[u32], at: usize| words[at / 4].to_le_bytes()[at % 4];
        for row in some_rows.clone() {
            for column in some_columns.clone() {
                let there = byte(&made[1], 4 * (column * to_words - to_base) + row);
                assert_eq!(there, byte(&from, 4 * (row * from_words - from_base) + column));
            }
        }
        let part = some_rows.start / 4..some_rows.end.div_ceil(4);
        let is_made = |at: usize| {
            let (column, word) = ((at + to_base) / to_words, (at + to_base) % to_words);
            some_columns.contains(&column) && part.contains(&word)
        };
        assert!((0..to.len()).all(|at| is_made(at) || made[1][at] == to[at]), "words of other parts");
        some_columns.len() * some_rows.len().div_ceil(4)
    });
}
