use super::constants::{NO_MOVE, RANK_BITS, RANK_MASK};
use super::quiet::Quiet;
use crate::device::{Tracer, Words, Workgroup, extract_bits, pack4x_u8, unpack4x_u8};

/// Quiet moves of the small side, to positions with the large side to move and the same large row.
pub(super) fn quiet_small<T: Tracer>(
    group: &Workgroup<T>,
    params: &Quiet,
    [moves, map, large_moves, mut small_moves]: [Words<T>; 4],
) {
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
