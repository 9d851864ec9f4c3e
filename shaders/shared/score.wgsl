// Looks up scores in the operand: frames of lower layers, in the form of table files (docs/format.md).

@group(0) @binding(1) var<storage, read> operand: array<u32>;
@group(0) @binding(2) var<storage, read> frames: array<Frame>;

// Location of a frame in the operand.
struct Frame {
    // First byte of the profile. For a frame of finished games (rows = OVER): the score of all its positions.
    profile_at: u32,
    // First word of the groups; 0 if the frame has no groups.
    groups_at: u32,
    // First byte of the patches.
    patches_at: u32,
    // Number of mover's rows; or OVER, or ABSENT: the frame is not in this operand.
    rows: u32,
}

fn operand_byte(at: u32) -> u32 {
    return extractBits(operand[at / 4u], 8u * (at % 4u), 8u);
}

// Code at `place` of the group at `group` (a word), which has the patch at `patch_at` (a byte).
// Negative for a residual below the base.
fn patched_code(group: u32, patch_at: u32, place: u32) -> u32 {
    let count = operand_byte(patch_at + PATCH_HEAD_BYTES - 1u);
    for (var index = 0u; index < count; index++) {
        let exception = patch_at + PATCH_HEAD_BYTES + index * EXCEPTION_BYTES;
        if (operand_byte(exception) == place) {
            return bitcast<u32>(extractBits(bitcast<i32>(operand_byte(exception + 1u)), 0u, 8u));
        }
    }
    if (place < MOVED_CODES) {
        return extractBits(operand_byte(patch_at + place / 2u), 4u * (place % 2u), 4u);
    }
    return extractBits(operand[group + place / 8u], 4u * (place % 8u), 4u);
}

// The residuals, plus BASE_BIAS, of the positions with these indices, each in the frame with groups
// and patches there. With groups at word 0 and index 0 it reads the first group of the operand,
// whatever it holds, but no patch.
fn residuals(groups_at: vec4<u32>, patches_at: vec4<u32>, index: vec4<u32>) -> vec4<u32> {
    let number = index / GROUP_POSITIONS;
    // The number of the code in the frame: a group has two more codes than positions, in place of
    // the base. It is below 2^32, since the groups have less than 2^31 bytes.
    let code_at = index + (8u * GROUP_WORDS - GROUP_POSITIONS) * number;
    let group = groups_at + number * GROUP_WORDS;
    // Everything is loaded before anything is used.
    let last = group + GROUP_WORDS - 1u;
    let base = vec4<u32>(operand[last.x], operand[last.y], operand[last.z], operand[last.w]) >> vec4<u32>(24u);
    let at = groups_at + code_at / 8u;
    let word = vec4<u32>(operand[at.x], operand[at.y], operand[at.z], operand[at.w]);
    var code = (word >> ((4u * code_at) % 32u)) & vec4<u32>(15u);
    let patched = select(vec4<u32>(0u), base & vec4<u32>(PATCHED), groups_at > vec4<u32>(0u));
    if ((patched.x | patched.y | patched.z | patched.w) != 0u) {
        let place = code_at % (8u * GROUP_WORDS);
        if (patched.x != 0u) {
            code.x = patched_code(group.x, patches_at.x + operand[group.x], place.x);
        }
        if (patched.y != 0u) {
            code.y = patched_code(group.y, patches_at.y + operand[group.y], place.y);
        }
        if (patched.z != 0u) {
            code.z = patched_code(group.z, patches_at.z + operand[group.z], place.z);
        }
        if (patched.w != 0u) {
            code.w = patched_code(group.w, patches_at.w + operand[group.w], place.w);
        }
    }
    return (base & vec4<u32>(~PATCHED)) + code;
}

// The bytes of profiles at these places.
fn profiles(at: vec4<u32>) -> vec4<u32> {
    let word = at / 4u;
    let words = vec4<u32>(operand[word.x], operand[word.y], operand[word.z], operand[word.w]);
    return (words >> (8u * (at % 4u))) & vec4<u32>(0xffu);
}
