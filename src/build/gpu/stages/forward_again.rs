use super::constants::{RANK_BITS, RANK_MASK};
use super::forward::{Forward, lanes, spilled, work_of};
use super::score::{frame, score};
use crate::gpu::{Tracer, Words, Workgroup, pack4x_u8, unpack4x_u8};

/// Moves that end in the store: worth what they store plus what the mover still collects.
pub(super) fn forward_again<T: Tracer>(
    group: &Workgroup<T>,
    params: &Forward,
    [operand, frames, moves, map, mut scores]: [Words<T>; 5],
) {
    for thread in group.threads(params.threads) {
        let work = work_of(params, &moves, thread);
        let frame = frame(&frames, params.frames_at);
        let mut best = unpack4x_u8(scores.get(work.at));
        for entry in work.entries {
            let own = moves.get(entry) & RANK_MASK;
            let stored = moves.get(entry) >> RANK_BITS;
            for lane in lanes(params, work.other) {
                let opponent = spilled(params, &map, work.other + lane);
                let index = opponent.wrapping_mul(frame.rows).wrapping_add(own);
                let best = &mut best[lane as usize];
                *best = (*best).max(stored + score(&operand, frame, index, own));
            }
        }
        scores.set(work.at, pack4x_u8(best));
    }
}
