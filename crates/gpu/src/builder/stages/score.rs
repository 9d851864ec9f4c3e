use super::constants::{
    BASE_BIAS, EXCEPTION_BYTES, GROUP_POSITIONS, GROUP_WORDS, MOVED_CODES, OVER, PATCH_HEAD_BYTES, PATCHED,
};
use crate::device::{Words, extract_bits};

/// Location of a frame in the operand: `Frame` of the shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct FrameAt {
    /// First byte of the profile. For a frame of finished games: the score of all its positions.
    pub profile_at: u32,
    /// First word of the groups that are there.
    pub groups_at: u32,
    /// First byte of the patches, as if those of all groups were there.
    pub patches_at: u32,
    /// Mover's rows; or [`OVER`], or [`super::constants::ABSENT`].
    pub rows: u32,
}

/// Returns the fewest rows of the waiting side whose positions fill whole groups, for frames with this many mover's
/// rows.
pub fn rows_of_whole_groups(mover_rows: u64) -> u64 {
    let (mut divisor, mut rest) = (u64::from(GROUP_POSITIONS), mover_rows);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    u64::from(GROUP_POSITIONS) / divisor
}

/// Returns the frame with this number in the buffer of frames.
pub(super) fn frame(frames: &Words, number: u32) -> FrameAt {
    let [profile_at, groups_at, patches_at, rows] = [0, 1, 2, 3].map(|word| frames.get(4 * number + word));
    FrameAt { profile_at, groups_at, patches_at, rows }
}

fn operand_byte(operand: &Words, at: u32) -> u32 {
    extract_bits(operand.get(at / 4), 8 * (at % 4), 8)
}

/// Code at `place` of the group at `group` (a word), which has the patch at `patch_at` (a byte).
fn patched_code(operand: &Words, group: u32, patch_at: u32, place: u32) -> u32 {
    let count = operand_byte(operand, patch_at + PATCH_HEAD_BYTES - 1);
    for index in 0..count {
        let exception = patch_at + PATCH_HEAD_BYTES + index * EXCEPTION_BYTES;
        if operand_byte(operand, exception) == place {
            return operand_byte(operand, exception + 1);
        }
    }
    if place < MOVED_CODES {
        return extract_bits(operand_byte(operand, patch_at + place / 2), 4 * (place % 2), 4);
    }
    extract_bits(operand.get(group + place / 8), 4 * (place % 8), 4)
}

/// Score of the position with this `index` and mover's rank in `frame`.
pub(super) fn score(operand: &Words, frame: FrameAt, index: u32, mover: u32) -> u32 {
    if frame.rows == OVER {
        return frame.profile_at;
    }
    let group = frame.groups_at + index / GROUP_POSITIONS * GROUP_WORDS;
    let place = index % GROUP_POSITIONS;
    let base = operand.get(group + GROUP_WORDS - 1) >> 24;
    let code = if base & PATCHED != 0 {
        patched_code(operand, group, frame.patches_at.wrapping_add(operand.get(group)), place)
    } else {
        extract_bits(operand.get(group + place / 8), 4 * (place % 8), 4)
    };
    let residual = (base & !PATCHED).wrapping_sub(BASE_BIAS).wrapping_add(code);
    residual.wrapping_add(operand_byte(operand, frame.profile_at + mover)) & 0xff
}
