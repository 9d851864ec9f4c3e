use crate::gpu::{pack4x_u8, params, read, threads};

params! {
    /// Parameters of [`Stage::Mean`](super::Stage::Mean).
    ///
    /// Buffers: the sum for each mover's row, the head of a frame, which begins with the profile.
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
pub(super) fn mean(workgroup: u32, params: &[u32], buffers: &mut [Vec<u32>]) {
    let params: &Mean = read(params);
    let [sums, head] = buffers else { unreachable!("bindings of the stage") };
    for thread in threads(workgroup).take_while(|&thread| thread < params.threads) {
        let mut bytes = [0; 4];
        for (row, byte) in (4 * thread..params.rows).zip(&mut bytes) {
            *byte = sums[row as usize] / params.others;
        }
        head[thread as usize] = pack4x_u8(bytes);
    }
}
