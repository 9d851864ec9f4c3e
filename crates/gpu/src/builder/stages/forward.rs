//! Moves to lower layers whose child depends on the row to move alone, or on one pit of the other row.

use super::constants::{ABSENT, AGAIN_GROUPS, AGAIN_WORDS, EVEN_EMPTY, NO_MAP, PIT_MASK, RANK_BITS, RANK_MASK};
use super::score::{frame, score};
use crate::device::{Words, Workgroup, pack4x_u8, params, unpack4x_u8};

params! {
    /// Parameters of the stages for moves to lower layers.
    ///
    /// Buffers: the operand, frames in it, moves, maps of other rows, scores; for relays also other
    /// rows and ranks, and [sowings](super::sowings()) in place of maps. A map has a whole number
    /// of words of scores; for captures, each pit's map has. After the last other row it continues
    /// with existing ranks.
    pub struct Forward {
        /// Threads: one for each word of each group. For `forward_again`, all threads of the
        /// workgroups.
        threads,
        /// Words of a run of scores.
        words,
        /// Other rows: positions of a run.
        others,
        /// The first word of the scores that is in the buffer.
        base,
        /// Seeds in play.
        total,
        /// Start of the groups of the class in the moves.
        groups_at,
        /// First group to process.
        first_group,
        /// Number of groups to process.
        groups,
        /// Start of the entries of the class in the moves.
        entries_at,
        /// Start of the map of other rows, a multiple of 4; or [`NO_MAP`].
        map_at,
        /// The first frame.
        frames_at,
        /// The first row of the waiting side that the frames in the operand have.
        first_waiting,
        /// The number of such rows; or more, if the frames are whole.
        waiting_rows,
        /// For relays: pits a side.
        pits,
        /// For relays: maximum seeds of rows with ranks.
        max_seeds,
        /// For relays: potentials for each number of seeds in the terms of ranks.
        stride,
        /// For relays: the numbers of seeds for which there are sowings.
        hands,
        /// For relays: start of the mover's rows at the crossings in the moves, two words each, one
        /// byte per pit.
        crossings_at,
        /// For relays: the first row whose scores may be raised.
        first_row,
        /// For relays: the row after the last one whose scores may be raised.
        end_row,
        /// For relays: 1 if a last seed in the store gives another move, else 0.
        moves_again,
    }
}

/// The work of a thread: see `shaders/shared/forward.wgsl`.
struct Work {
    entries: std::ops::Range<u32>,
    other: u32,
    at: u32,
}

/// The work of a thread of a stage whose threads have the words of one group after the other.
fn work_of(params: &Forward, moves: &Words, thread: u32) -> Work {
    work_at(params, moves, thread / params.words, thread % params.words)
}

/// The work on a word of a group, by its number among those to process.
fn work_at(params: &Forward, moves: &Words, number: u32, word: u32) -> Work {
    let group = params.groups_at + 2 * (params.first_group + number);
    let row = moves.get(group);
    Work {
        entries: params.entries_at + moves.get(group + 1)..params.entries_at + moves.get(group + 3),
        other: 4 * word,
        at: row * params.words + word - params.base,
    }
}

/// Rank of an other row after the spill. Beyond the last row it is repeated.
fn spilled(params: &Forward, map: &Words, other: u32) -> u32 {
    if params.map_at == NO_MAP { other.min(params.others - 1) } else { map.get(params.map_at + other) }
}

/// Moves that end the turn: worth the seeds that the opponent does not collect.
pub(super) fn forward_pass(group: &Workgroup, params: &Forward, [operand, frames, moves, map, mut scores]: [Words; 5]) {
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

/// Moves that end in the store: worth the seeds that they store plus those that the mover still
/// collects.
pub(super) fn forward_again(
    group: &Workgroup,
    params: &Forward,
    [operand, frames, moves, map, mut scores]: [Words; 5],
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

/// Moves that capture a pit of the other row. The child's frame depends on the seeds in it.
pub(super) fn forward_capture(
    group: &Workgroup,
    params: &Forward,
    [operand, frames, moves, map, mut scores]: [Words; 5],
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
