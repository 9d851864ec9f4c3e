use super::constants::{AGAIN_GROUPS, AGAIN_WORDS, RANK_BITS, RANK_MASK};
use super::forward::{Forward, spilled, work_at};
use super::score::{frame, score};
use crate::device::{Tracer, Words, Workgroup, pack4x_u8, unpack4x_u8};

/// Moves that end in the store: worth the seeds that they store plus those that the mover still
/// collects.
pub(super) fn forward_again<T: Tracer>(
    group: &Workgroup<T>,
    params: &Forward,
    [operand, frames, moves, map, mut scores]: [Words<T>; 5],
) {
    let across = params.words.div_ceil(AGAIN_WORDS);
    let (first_group, first_word) = (group.number() / across * AGAIN_GROUPS, group.number() % across * AGAIN_WORDS);
    for local in group.locals() {
        let (number, word) = (first_group + local % AGAIN_GROUPS, first_word + local / AGAIN_GROUPS);
        if number >= params.groups || word >= params.words {
            continue;
        }
        let work = work_at(params, &moves, number, word);
        let frame = frame(&frames, params.frames_at);
        let mut best = unpack4x_u8(scores.get(work.at));
        for entry in work.entries {
            let own = moves.get(entry) & RANK_MASK;
            let stored = moves.get(entry) >> RANK_BITS;
            for lane in 0..4 {
                let opponent = spilled(params, &map, work.other + lane).wrapping_sub(params.first_waiting);
                if opponent >= params.waiting_rows {
                    continue;
                }
                let index = opponent.wrapping_mul(frame.rows).wrapping_add(own);
                let best = &mut best[lane as usize];
                *best = (*best).max(stored + score(&operand, frame, index, own));
            }
        }
        scores.set(work.at, pack4x_u8(best));
    }
}
