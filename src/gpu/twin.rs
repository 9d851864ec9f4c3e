//! What twins on the CPU need: the threads of a workgroup, parameters, and the built-in functions of WGSL.

use std::ops::Range;

use super::kernel::{Params, WORKGROUP};

/// The threads of a workgroup, by their number among all.
pub(crate) fn threads(workgroup: u32) -> Range<u32> {
    workgroup * WORKGROUP..(workgroup + 1) * WORKGROUP
}

/// The parameters as a struct.
pub(crate) fn read<P: Params>(words: &[u32]) -> &P {
    bytemuck::from_bytes(bytemuck::cast_slice(words))
}

/// The bytes of a word.
pub(crate) fn unpack4x_u8(word: u32) -> [u32; 4] {
    word.to_le_bytes().map(u32::from)
}

/// A word of four bytes.
pub(crate) fn pack4x_u8(bytes: [u32; 4]) -> u32 {
    u32::from_le_bytes(bytes.map(|byte| byte as u8))
}

/// `count` bits of a word from bit `offset` on.
pub(crate) fn extract_bits(word: u32, offset: u32, count: u32) -> u32 {
    word >> offset & ((1 << count) - 1)
}
