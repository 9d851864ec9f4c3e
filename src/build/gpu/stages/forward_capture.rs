use super::constants::{ABSENT, EVEN_EMPTY, PIT_MASK, RANK_BITS, RANK_MASK};
use super::forward::{Forward, work_of};
use super::score::{frame, score};
use crate::gpu::{pack4x_u8, read, threads, unpack4x_u8};

/// Moves that capture a pit of the other row: the child's frame depends on the seeds it holds.
pub(super) fn forward_capture(workgroup: u32, params: &[u32], buffers: &mut [Vec<u32>]) {
    let params: &Forward = read(params);
    let [operand, frames, moves, map, scores] = buffers else { unreachable!("bindings of the stage") };
    for thread in threads(workgroup).take_while(|&thread| thread < params.threads) {
        let work = work_of(params, moves, thread);
        let mut best = unpack4x_u8(scores[work.at]);
        for entry in work.entries {
            let entry = moves[entry as usize];
            let own = entry & RANK_MASK;
            let pit = entry >> RANK_BITS & PIT_MASK;
            let even_empty = entry & EVEN_EMPTY != 0;
            for lane in 0..4 {
                let place = map[(params.map_at + 4 * pit * params.words + work.other + lane) as usize];
                let captured = place >> RANK_BITS;
                let frame = frame(frames, params.frames_at + captured);
                if (captured == 0 && !even_empty) || frame.rows == ABSENT {
                    continue;
                }
                let opponent = place & RANK_MASK;
                let index = own.wrapping_mul(frame.rows).wrapping_add(opponent);
                let best = &mut best[lane as usize];
                *best = (*best).max(params.total - score(operand, frame, index, opponent));
            }
        }
        scores[work.at] = pack4x_u8(best);
    }
}
