//! Shared parts of the stages for moves to lower layers.

use super::constants::NO_MAP;
use crate::device::{Tracer, Words, params};

params! {
    /// Parameters of the stages for moves to lower layers.
    ///
    /// Buffers: the operand, frames in it, moves, maps of other rows, scores; for relays also other
    /// rows and ranks, and [`sowings`](super::sowings()) in place of maps. A map has a whole number
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
pub(super) struct Work {
    pub entries: std::ops::Range<u32>,
    pub other: u32,
    pub at: u32,
}

/// The work of a thread of a stage whose threads have the words of one group after the other.
pub(super) fn work_of<T: Tracer>(params: &Forward, moves: &Words<T>, thread: u32) -> Work {
    work_at(params, moves, thread / params.words, thread % params.words)
}

/// The work on a word of a group, by its number among those to process.
pub(super) fn work_at<T: Tracer>(params: &Forward, moves: &Words<T>, number: u32, word: u32) -> Work {
    let group = params.groups_at + 2 * (params.first_group + number);
    let row = moves.get(group);
    Work {
        entries: params.entries_at + moves.get(group + 1)..params.entries_at + moves.get(group + 3),
        other: 4 * word,
        at: row * params.words + word - params.base,
    }
}

/// Rank of an other row after the spill. Beyond the last row it is repeated.
pub(super) fn spilled<T: Tracer>(params: &Forward, map: &Words<T>, other: u32) -> u32 {
    if params.map_at == NO_MAP { other.min(params.others - 1) } else { map.get(params.map_at + other) }
}

/// Lanes of a word that hold positions. The others may hold any scores of positions that exist.
pub(super) fn lanes(params: &Forward, other: u32) -> std::ops::Range<u32> {
    0..params.others.saturating_sub(other).min(4)
}
