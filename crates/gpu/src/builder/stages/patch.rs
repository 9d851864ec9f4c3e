use super::constants::{EXCEPTION_BYTES, GROUP_WORDS, PATCH_HEAD_BYTES, PATCHED, SCAN_BLOCK};
use super::residual::{Encode, residuals, words_of};
use crate::device::{Tracer, Words, Workgroup, extract_bits};

/// Parameters of [`Stage::Patch`](super::Stage::Patch): those of [`Encode`].
///
/// Buffers:
/// - scores
/// - the profile of a frame
/// - its groups
/// - the start of each patch in its block of groups
/// - the start of each block in its superblock
/// - the start of each superblock
/// - patches (initially zeros)
pub type Patch = Encode;

/// Writes the patches of groups with exceptions.
pub(super) fn patch<T: Tracer>(
    group: &Workgroup<T>,
    params: &Patch,
    [scores, profile, mut groups, sizes, block_sums, superblock_sums, mut patches]: [Words<T>; 7],
) {
    let mut put = |at: u32, byte: u32| patches.atomic_or(at / 4, byte << (8 * (at % 4)));
    for thread in group.threads(params.threads) {
        let group = params.first_group + thread;
        let group_at = words_of(params, group);
        let mark = groups.get(group_at + GROUP_WORDS - 1) >> 24;
        if mark & PATCHED == 0 {
            continue;
        }
        let base = mark & !PATCHED;
        let (block, superblock) = (group / SCAN_BLOCK, group / (SCAN_BLOCK * SCAN_BLOCK));
        let offset = sizes.get(group) + block_sums.get(block) + superblock_sums.get(superblock);
        for byte in 0..4 {
            put(offset + byte, extract_bits(groups.get(group_at), 8 * byte, 8));
        }
        groups.set(group_at, offset);
        let mut exceptions = 0;
        for (place, value) in (0..).zip(residuals(params, &scores, &profile, group)) {
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
