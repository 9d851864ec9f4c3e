// Looks up a score in the operand: frames of lower layers, in the form of table files (docs/format.md).

@group(0) @binding(1) var<storage, read> operand: array<u32>;
@group(0) @binding(2) var<storage, read> frames: array<Frame>;

// Where a frame is in the operand.
struct Frame {
    // First byte of the profile. For a frame of finished games (rows = OVER): the score of all its positions.
    profile_at: u32,
    // First word of the groups.
    groups_at: u32,
    // First byte of the patches.
    patches_at: u32,
    // Mover's rows; or OVER, or ABSENT: the frame is not in this operand.
    rows: u32,
}

fn operand_byte(at: u32) -> u32 {
    return extractBits(operand[at / 4u], 8u * (at % 4u), 8u);
}

// The code at `place` of the group at `group` (a word), which has the patch at `patch_at` (a byte).
fn patched_code(group: u32, patch_at: u32, place: u32) -> u32 {
    let count = operand_byte(patch_at + PATCH_HEAD_BYTES - 1u);
    for (var index = 0u; index < count; index++) {
        let exception = patch_at + PATCH_HEAD_BYTES + index * EXCEPTION_BYTES;
        if (operand_byte(exception) == place) {
            return operand_byte(exception + 1u);
        }
    }
    if (place < MOVED_CODES) {
        return extractBits(operand_byte(patch_at + place / 2u), 4u * (place % 2u), 4u);
    }
    return extractBits(operand[group + place / 8u], 4u * (place % 8u), 4u);
}

// The score of the position with this `index` and mover's rank in `frame`.
fn score(frame: Frame, index: u32, mover: u32) -> u32 {
    if (frame.rows == OVER) {
        return frame.profile_at;
    }
    let group = frame.groups_at + index / GROUP_POSITIONS * GROUP_WORDS;
    let place = index % GROUP_POSITIONS;
    let base = operand[group + GROUP_WORDS - 1u] >> 24u;
    var code: u32;
    if ((base & PATCHED) != 0u) {
        code = patched_code(group, frame.patches_at + operand[group], place);
    } else {
        code = extractBits(operand[group + place / 8u], 4u * (place % 8u), 4u);
    }
    return ((base & ~PATCHED) - BASE_BIAS + code + operand_byte(frame.profile_at + mover)) & 0xffu;
}
