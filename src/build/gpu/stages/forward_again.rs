use super::constants::{RANK_BITS, RANK_MASK};
use super::forward::{Forward, spilled, work_of};
use super::score::{frame, score};
use crate::gpu::{pack4x_u8, read, threads, unpack4x_u8};

/// Moves that end in the store: worth what they store plus what the mover still collects.
pub(super) fn forward_again(workgroup: u32, params: &[u32], buffers: &mut [Vec<u32>]) {
    let params: &Forward = read(params);
    let [operand, frames, moves, map, scores] = buffers else { unreachable!("bindings of the stage") };
    for thread in threads(workgroup).take_while(|&thread| thread < params.threads) {
        let work = work_of(params, moves, thread);
        let frame = frame(frames, params.frames_at);
        let mut best = unpack4x_u8(scores[work.at]);
        for entry in work.entries {
            let own = moves[entry as usize] & RANK_MASK;
            let stored = moves[entry as usize] >> RANK_BITS;
            for lane in 0..4 {
                let opponent = spilled(params, map, work.other + lane);
                let index = opponent.wrapping_mul(frame.rows).wrapping_add(own);
                let best = &mut best[lane as usize];
                *best = (*best).max(stored + score(operand, frame, index, own));
            }
        }
        scores[work.at] = pack4x_u8(best);
    }
}
