use super::constants::{NO_MOVE, RANK_BITS, RANK_MASK};
use crate::device::{Tracer, Words, Workgroup, extract_bits, pack4x_u8, params, unpack4x_u8};

params! {
    /// Parameters of [`Stage::QuietSmall`](super::Stage::QuietSmall).
    ///
    /// Buffers, where scores have a run for each large row:
    /// - moves of the small side
    /// - captures of the large side's rows (standard rules only)
    /// - scores with the large side to move
    /// - scores with the small side to move
    pub struct QuietSmall {
        /// Threads: one for each word of each large row.
        threads,
        /// The first large row.
        first_row,
        /// Words of a run.
        words,
        /// Seeds in play.
        total,
        /// Start of the quiet moves for four small rows at once, a multiple of 4. Each word of a run
        /// has four words here: the number of its first entry, that of the entry after its last,
        /// and two zeros. An entry has a word for each of the four rows: the rank after a move in
        /// the lower [`RANK_BITS`] bits, a condition above. The condition is 0 for a move that is
        /// always possible, the number (from 1) of the large row's pit that must be empty, or
        /// [`NO_MOVE`].
        quads_at,
        /// Distance from one pit to the next in the captures.
        map_stride,
        /// The first word of the scores with the small side to move that is in its buffer.
        small_base,
        /// The first word of the scores with the large side to move that is in its buffer.
        large_base,
    }
}

/// Quiet moves of the small side, to positions with the large side to move and the same large row.
pub(super) fn quiet_small<T: Tracer>(
    group: &Workgroup<T>,
    params: &QuietSmall,
    [moves, map, large_moves, mut small_moves]: [Words<T>; 4],
) {
    for thread in group.threads(params.threads) {
        let row = params.first_row + thread / params.words;
        let word = thread % params.words;
        let at = row * params.words + word - params.small_base;
        let children = row * params.words - params.large_base;
        let mut best = unpack4x_u8(small_moves.get(at));
        let entries_at = params.quads_at + 4 * word;
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
