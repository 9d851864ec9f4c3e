use super::constants::{ABSENT, EVEN_EMPTY, PIT_MASK, RANK_BITS, RANK_MASK};
use super::forward::{Forward, work_of};
use super::score::{frame, score};
use crate::device::{Tracer, Words, Workgroup, pack4x_u8, unpack4x_u8};

/// Moves that capture a pit of the other row. The child's frame depends on the seeds in it.
pub(super) fn forward_capture<T: Tracer>(
    group: &Workgroup<T>,
    params: &Forward,
    [operand, frames, moves, map, mut scores]: [Words<T>; 5],
) {
    for thread in group.threads(params.threads) {
        let work = work_of(params, &moves, thread);
        let mut best = unpack4x_u8(scores.get(work.at));
        for entry in work.entries {
            let entry = moves.get(entry);
            let own = (entry & RANK_MASK).wrapping_sub(params.first_waiting);
            if own >= params.waiting_rows {
                continue;
            }
            let pit = entry >> RANK_BITS & PIT_MASK;
            let even_empty = entry & EVEN_EMPTY != 0;
            for lane in 0..4 {
                let place = map.get(params.map_at + 4 * pit * params.words + work.other + lane);
                let captured = place >> RANK_BITS;
                let frame = frame(&frames, params.frames_at + captured);
                if (captured == 0 && !even_empty) || frame.rows == ABSENT {
                    continue;
                }
                let opponent = place & RANK_MASK;
                let index = own.wrapping_mul(frame.rows).wrapping_add(opponent);
                let best = &mut best[lane as usize];
                *best = (*best).max(params.total - score(&operand, frame, index, opponent));
            }
        }
        scores.set(work.at, pack4x_u8(best));
    }
}
