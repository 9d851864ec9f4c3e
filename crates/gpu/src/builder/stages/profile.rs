use super::constants::PROFILE_ROWS;
use crate::device::{Tracer, Words, Workgroup, params, unpack4x_u8};

params! {
    /// Parameters of [`Stage::Profile`](super::Stage::Profile).
    ///
    /// Buffers: scores, the sum for each mover's row (initially zeros).
    pub struct Profile {
        /// Threads: one for each word of a run and [`PROFILE_ROWS`] runs.
        threads,
        /// Words of a run.
        words,
        /// The first run.
        first_row,
        /// The run after the last.
        end_row,
        /// The first word of the scores that is in the buffer.
        base,
    }
}

/// Sums of the scores of each mover's row over all other rows.
pub(super) fn profile<T: Tracer>(group: &Workgroup<T>, params: &Profile, [scores, mut sums]: [Words<T>; 2]) {
    for thread in group.threads(params.threads) {
        let word = thread % params.words;
        let first = params.first_row + thread / params.words * PROFILE_ROWS;
        let mut sum = [0; 4];
        for row in first..(first + PROFILE_ROWS).min(params.end_row) {
            let scores = unpack4x_u8(scores.get(row * params.words + word - params.base));
            sum.iter_mut().zip(scores).for_each(|(sum, score)| *sum += score);
        }
        for (lane, sum) in (0..).zip(sum) {
            sums.atomic_add(4 * word + lane, sum);
        }
    }
}
