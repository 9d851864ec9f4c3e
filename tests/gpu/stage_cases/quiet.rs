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

/// Quiet moves of the side whose rows are those of the matrix, or its columns.
pub(super) fn quiet(on: &mut impl Run, stage: Stage, seed: u64) {
    let (is_large, mut raised) = (stage == Stage::QuietLarge, 0);
    until_enough(on, seed, |on, rng| {
        let (rows, columns) = random_shape(rng, 60_000);
        let (words, pits) = (columns.div_ceil(4), rng.u32(1..=MAX_TABLE_PITS as u32));
        let part = random_part(rng, rows);
        let lowest = if is_large { rng.usize(0..=part.start) } else { 0 };
        let (moves, moves_at) = if is_large {
            quiet_moves(rng, rows, pits, &(lowest as u32..part.start as u32))
        } else {
            quads(rng, columns, pits)
        };
        let map = captures(rng, pits, if is_large { columns } else { rows });
        let mut params = Quiet {
            threads: (part.len() * words) as u32,
            first_row: part.start as u32,
            words: words as u32,
            total: TOTAL,
            moves_at,
            ..Quiet::default()
        };
        let mut children = part.clone();
        if is_large {
            // A window has some of the rows to which moves lead.
            let some = random_part(rng, part.start.max(lowest + 1) - lowest);
            children = lowest + some.start..lowest + some.end;
            (params.first_child, params.child_rows) = (children.start as u32, children.len() as u32);
        } else {
            params.map_stride = rows.next_multiple_of(4) as u32;
        }
        let (from_base, from) = window(rng, &children, words, TOTAL);
        let (to_base, to) = window(rng, &part, words, 20);
        (params.small_base, params.large_base) = if is_large { (from_base, to_base) } else { (to_base, from_base) };
        let made = on.run(stage, &params, workgroups(params.threads), vec![moves, map, from, to.clone()]);
        raised += changed(&made[3], &to);
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
