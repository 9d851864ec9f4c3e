//! Shared parts of the stages that pack groups: parameters, and reading the residuals of a group
//! from scores (see `shaders/shared/residual.wgsl`).

use super::constants::{BASE_BIAS, GROUP_POSITIONS, GROUP_WORDS};
use crate::device::{Tracer, Words, extract_bits, params};

params! {
    /// Parameters of [`Stage::Encode`](super::Stage::Encode).
    ///
    /// Buffers: scores, the profile of a frame, its groups, the size of each group's patch. Scores
    /// and groups may be windows, which begin with the same position. All sizes are there.
    pub struct Encode {
        /// Threads: groups.
        threads,
        /// The first group.
        first_group,
        /// Mover's rows.
        rows,
        /// Words of a run of scores.
        words,
        /// The first group of the windows. It begins with a run.
        origin,
        /// Positions of the windows.
        positions,
    }
}

/// Residuals, biased so that they are positive, of the positions of `group`.
///
/// Panics if a wrong parameter leads beyond the scores.
pub(super) fn residuals<'a, T: Tracer>(
    params: &'a Encode,
    scores: &'a Words<T>,
    profile: &'a Words<T>,
    group: u32,
) -> impl Iterator<Item = u32> + 'a {
    let first = (group - params.origin) * GROUP_POSITIONS;
    (first..first + GROUP_POSITIONS.min(params.positions - first)).map(move |index| {
        let (row, mover) = (index / params.rows, index % params.rows);
        let (word, shift) = (row * params.words + mover / 4, 8 * (mover % 4));
        let score = extract_bits(scores.get(word), shift, 8);
        (score + BASE_BIAS).wrapping_sub(extract_bits(profile.get(mover / 4), shift, 8))
    })
}

/// The first word of a group.
pub(super) fn words_of(params: &Encode, group: u32) -> u32 {
    (group - params.origin) * GROUP_WORDS
}
