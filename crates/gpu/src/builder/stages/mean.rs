use crate::device::{Tracer, Words, Workgroup, pack4x_u8, params};

params! {
    /// Parameters of [`Stage::Mean`](super::Stage::Mean).
    ///
    /// Buffers: the sum for each mover's row, the profile.
    pub struct Mean {
        /// Threads: words of the profile.
        threads,
        /// Mover's rows.
        rows,
        /// Other rows: the number of scores in each sum.
        others,
    }
}

/// The profile of a frame: the mean score of each mover's row, rounded down.
pub(super) fn mean<T: Tracer>(group: &Workgroup<T>, params: &Mean, [sums, mut profile]: [Words<T>; 2]) {
    for thread in group.threads(params.threads) {
        let mut bytes = [0; 4];
        for (row, byte) in (4 * thread..params.rows).zip(&mut bytes) {
            *byte = sums.get(row) / params.others;
        }
        profile.set(thread, pack4x_u8(bytes));
    }
}
