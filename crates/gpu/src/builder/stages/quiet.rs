//! Quiet moves, which stay in the layer.

use super::constants::{NO_MOVE, RANK_BITS, RANK_MASK};
use crate::device::{Words, Workgroup, extract_bits, pack4x_u8, params, unpack4x_u8};

params! {
    /// Parameters of the stages for quiet moves.
    ///
    /// Buffers, where scores have a run for each large row:
    /// - moves of the side to move
    /// - captures of the other side's rows (standard rules only); of the small side's rows, for each
    ///   pit a whole number of words of scores
    /// - scores with the other side to move
    /// - scores with the side to move
    pub struct Quiet {
        /// Threads: one for each word of each large row.
        threads,
        /// The first large row.
        first_row,
        /// Words of a run.
        words,
        /// Seeds in play.
        total,
        /// For the large side: start of the entries in the moves, which begin with the starts of
        /// each row's entries.
        ///
        /// For the small side: start of the quiet moves for four rows at once, a multiple of 4. Each
        /// word of a run has four words here: the number of its first entry, that of the entry after
        /// its last, and two zeros. An entry has a word for each of the four rows: the rank after a
        /// move in the lower [`RANK_BITS`](super::RANK_BITS) bits, a condition above. The condition is 0 for a move
        /// that is always possible, the number (from 1) of the large row's pit that must be empty,
        /// or [`NO_MOVE`](super::NO_MOVE).
        moves_at,
        /// For the small side: distance from one pit to the next in the captures.
        map_stride,
        /// The first word of the scores with the small side to move that is in its buffer.
        small_base,
        /// The first word of the scores with the large side to move that is in its buffer.
        large_base,
        /// For the large side: only moves to large rows from this one on count.
        first_child,
        /// For the large side: the number of large rows to which moves count.
        child_rows,
    }
}

/// Quiet moves of the large side, to positions with the small side to move and a large row of a
/// lower level.
pub(super) fn quiet_large(group: &Workgroup, params: &Quiet, [moves, map, small_moves, mut large_moves]: [Words; 4]) {
    for thread in group.threads(params.threads) {
        let row = params.first_row + thread / params.words;
        let word = thread % params.words;
        let at = row * params.words + word - params.large_base;
        let mut best = unpack4x_u8(large_moves.get(at));
        for entry in moves.get(row)..moves.get(row + 1) {
            let quiet = moves.get(params.moves_at + entry);
            let row_after = quiet & RANK_MASK;
            if row_after.wrapping_sub(params.first_child) >= params.child_rows {
                continue;
            }
            let child = row_after * params.words + word - params.small_base;
            let scores = unpack4x_u8(small_moves.get(child));
            let only_if_empty = quiet >> RANK_BITS;
            for lane in 0..4 {
                if only_if_empty > 0 {
                    let captured = map.get(4 * ((only_if_empty - 1) * params.words + word) + lane) >> RANK_BITS;
                    if captured > 0 {
                        continue;
                    }
                }
                let best = &mut best[lane as usize];
                *best = (*best).max(params.total - scores[lane as usize]);
            }
        }
        large_moves.set(at, pack4x_u8(best));
    }
}

/// Quiet moves of the small side, to positions with the large side to move and the same large row.
pub(super) fn quiet_small(group: &Workgroup, params: &Quiet, [moves, map, large_moves, mut small_moves]: [Words; 4]) {
    for thread in group.threads(params.threads) {
        let row = params.first_row + thread / params.words;
        let word = thread % params.words;
        let at = row * params.words + word - params.small_base;
        let children = row * params.words - params.large_base;
        let mut best = unpack4x_u8(small_moves.get(at));
        let entries_at = params.moves_at + 4 * word;
        for entry in moves.get(entries_at)..moves.get(entries_at + 1) {
            for lane in 0..4 {
                let quiet = moves.get(4 * entry + lane);
                let only_if_empty = quiet >> RANK_BITS;
                if only_if_empty == NO_MOVE {
                    continue;
                }
                if only_if_empty > 0 {
                    let captured = map.get((only_if_empty - 1) * params.map_stride + row) >> RANK_BITS;
                    if captured > 0 {
                        continue;
                    }
                }
                let own = quiet & RANK_MASK;
                let child = extract_bits(large_moves.get(children + own / 4), 8 * (own % 4), 8);
                let best = &mut best[lane as usize];
                *best = (*best).max(params.total - child);
            }
        }
        small_moves.set(at, pack4x_u8(best));
    }
}
