use super::constants::RANK_MASK;
use super::forward::{Forward, spilled, work_of};
use super::score::{frame, score};
use crate::device::{Tracer, Words, Workgroup, pack4x_u8, unpack4x_u8};

/// Moves that end the turn: worth the seeds that the opponent does not collect.
pub(super) fn forward_pass<T: Tracer>(
    group: &Workgroup<T>,
    params: &Forward,
    [operand, frames, moves, map, mut scores]: [Words<T>; 5],
) {
    for thread in group.threads(params.threads) {
        let work = work_of(params, &moves, thread);
        let frame = frame(&frames, params.frames_at);
        let mut best = unpack4x_u8(scores.get(work.at));
        for entry in work.entries {
            let own = (moves.get(entry) & RANK_MASK).wrapping_sub(params.first_waiting);
            if own >= params.waiting_rows {
                continue;
            }
            for lane in 0..4 {
                let opponent = spilled(params, &map, work.other + lane);
                let index = own.wrapping_mul(frame.rows).wrapping_add(opponent);
                let best = &mut best[lane as usize];
                *best = (*best).max(params.total - score(&operand, frame, index, opponent));
            }
        }
        scores.set(work.at, pack4x_u8(best));
    }
}
