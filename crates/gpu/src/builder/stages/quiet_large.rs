use super::constants::{RANK_BITS, RANK_MASK};
use super::quiet::Quiet;
use crate::device::{Tracer, Words, Workgroup, pack4x_u8, unpack4x_u8};

/// Quiet moves of the large side, to positions with the small side to move and a large row of a
/// lower level.
pub(super) fn quiet_large<T: Tracer>(
    group: &Workgroup<T>,
    params: &Quiet,
    [moves, map, small_moves, mut large_moves]: [Words<T>; 4],
) {
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
