use super::constants::{EXCEPTION_BYTES, GROUP_WORDS, PATCH_HEAD_BYTES, PATCHED, SCAN_BLOCK};
use super::residual::{Encode, residuals};
use crate::gpu::{extract_bits, read, threads};

/// Parameters of [`Stage::Patch`](super::Stage::Patch): those of [`Encode`].
///
/// Buffers: scores, the head of a frame, where each patch begins in its block of groups, where each block begins in its
/// superblock, where each superblock begins, patches (zeros before).
pub type Patch = Encode;

/// Writes the patches of groups with exceptions.
pub(super) fn patch(workgroup: u32, params: &[u32], buffers: &mut [Vec<u32>]) {
    let params: &Patch = read(params);
    let [scores, head, sizes, block_sums, superblock_sums, patches] = buffers else {
        unreachable!("bindings of the stage")
    };
    let mut put = |at: u32, byte: u32| patches[at as usize / 4] |= byte << (8 * (at % 4));
    for thread in threads(workgroup).take_while(|&thread| thread < params.threads) {
        let group = params.first_group + thread;
        let group_at = (params.groups_at + group * GROUP_WORDS) as usize;
        let mark = head[group_at + GROUP_WORDS as usize - 1] >> 24;
        if mark & PATCHED == 0 {
            continue;
        }
        let base = mark & !PATCHED;
        let (block, superblock) = (group / SCAN_BLOCK, group / (SCAN_BLOCK * SCAN_BLOCK));
        let offset = sizes[group as usize] + block_sums[block as usize] + superblock_sums[superblock as usize];
        for byte in 0..4 {
            put(offset + byte, extract_bits(head[group_at], 8 * byte, 8));
        }
        head[group_at] = offset;
        let mut exceptions = 0;
        for (place, value) in (0..).zip(residuals(params, scores, head, group)) {
            let code = value.wrapping_sub(base) & 0xff;
            if code > 15 {
                let at = offset + PATCH_HEAD_BYTES + exceptions * EXCEPTION_BYTES;
                put(at, place);
                put(at + 1, code);
                exceptions += 1;
            }
        }
        put(offset + PATCH_HEAD_BYTES - 1, exceptions);
    }
}
