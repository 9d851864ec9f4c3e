//! What the stages for moves to lower layers have in common.

use super::constants::NO_MAP;
use crate::device::{Tracer, Words, params};

params! {
    /// Parameters of the stages for moves to lower layers.
    ///
    /// Buffers: the operand, frames in it, moves, maps of other rows, scores; for relays also other rows and ranks, and
    /// [`sowings`](super::sowings()) instead of maps. A map has a whole number of words of scores, for captures for each pit: after the last other row it goes on with ranks that
    /// exist.
    pub struct Forward {
        /// Threads: one for each word of each group; of `forward_again`, all of the workgroups.
        threads,
        /// Words of a run of scores.
        words,
        /// Other rows: positions of a run.
        others,
        /// The first word of the scores that is in the buffer.
        base,
        /// Seeds in play.
        total,
        /// Where the groups of the class begin in the moves.
        groups_at,
        /// The first group to be done.
        first_group,
        /// Groups to be done.
        groups,
        /// Where the entries of the class begin in the moves.
        entries_at,
        /// Where the map of other rows begins, a multiple of 4; or [`NO_MAP`].
        map_at,
        /// The first frame.
        frames_at,
        /// For relays: pits a side.
        pits,
        /// For relays: the most seeds for which there are ranks.
        max_seeds,
        /// For relays: potentials for each number of seeds in the terms of ranks.
        stride,
        /// For relays: the numbers of seeds for which there are sowings.
        hands,
        /// For relays: where the mover's rows at the crossings begin in the moves, two words each, one byte per pit.
        crossings_at,
        /// For relays: the first row whose scores may be raised.
        first_row,
        /// For relays: the row behind the last one whose scores may be raised.
        end_row,
        /// For relays: 1 if a last seed in the store gives another move, else 0.
        moves_again,
    }
}

/// The work of a thread: see `shaders/shared/forward.wgsl`.
pub(super) struct Work {
    pub entries: std::ops::Range<u32>,
    pub other: u32,
    pub at: u32,
}

/// The work of a thread of a stage whose threads have the words of one group after the other.
pub(super) fn work_of<T: Tracer>(params: &Forward, moves: &Words<T>, thread: u32) -> Work {
    work_at(params, moves, thread / params.words, thread % params.words)
}

/// The work on a word of a group, by its number among those to be done.
pub(super) fn work_at<T: Tracer>(params: &Forward, moves: &Words<T>, number: u32, word: u32) -> Work {
    let group = params.groups_at + 2 * (params.first_group + number);
    let row = moves.get(group);
    Work {
        entries: params.entries_at + moves.get(group + 1)..params.entries_at + moves.get(group + 3),
        other: 4 * word,
        at: row * params.words + word - params.base,
    }
}

/// The rank of an other row after the spill; beyond the last row it is repeated.
pub(super) fn spilled<T: Tracer>(params: &Forward, map: &Words<T>, other: u32) -> u32 {
    if params.map_at == NO_MAP { other.min(params.others - 1) } else { map.get(params.map_at + other) }
}

/// The lanes of a word that hold positions; the others may hold any scores of positions that exist.
pub(super) fn lanes(params: &Forward, other: u32) -> std::ops::Range<u32> {
    0..params.others.saturating_sub(other).min(4)
}
