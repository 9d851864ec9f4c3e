use super::constants::SCAN_BLOCK;
use crate::gpu::{params, read};

params! {
    /// Parameters of [`Stage::Scan`](super::Stage::Scan).
    ///
    /// Buffers: numbers, the sum of each block. One workgroup for each block of [`SCAN_BLOCK`] numbers.
    pub struct Scan {
        /// Numbers.
        numbers,
        /// The first block.
        first_block,
    }
}

/// Replaces each number by the sum of those before it in its block.
pub(super) fn scan(workgroup: u32, params: &[u32], buffers: &mut [Vec<u32>]) {
    let params: &Scan = read(params);
    let [numbers, sums] = buffers else { unreachable!("bindings of the stage") };
    let block = params.first_block + workgroup;
    let first = block * SCAN_BLOCK;
    let mut running = 0;
    for number in &mut numbers[first as usize..(first + SCAN_BLOCK).min(params.numbers) as usize] {
        running += std::mem::replace(number, running);
    }
    sums[block as usize] = running;
}
