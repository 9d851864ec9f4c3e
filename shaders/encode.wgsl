// Packs scores into groups. A thread packs one group and stores the number of bytes of its patch.
//
// In a group with exceptions the first word still holds its codes; the stage `patch` moves them.

@group(0) @binding(3) var<storage, read_write> sizes: array<u32>;

// How many residuals have each value, four values per word.
var<private> counts: array<u32, COUNT_WORDS>;

fn count_of(value: u32) -> u32 {
    return extractBits(counts[value / 4u], 8u * (value % 4u), 8u);
}

// The base with which the most residuals fit 4 bits (the smallest such base), and how many fit.
fn best_base(group: u32, positions: u32, least: u32, greatest: u32) -> vec2<u32> {
    for (var word = 0u; word < COUNT_WORDS; word++) {
        counts[word] = 0u;
    }
    var cursor = cursor_at(group * GROUP_POSITIONS);
    for (var place = 0u; place < positions; place++) {
        let value = residual(cursor);
        counts[value / 4u] += 1u << (8u * (value % 4u));
        cursor = next(cursor);
    }
    var fitting = 0u;
    for (var value = least; value < least + 16u; value++) {
        fitting += count_of(value);
    }
    var best = vec2<u32>(least, fitting);
    for (var base = least + 1u; base + 15u <= greatest; base++) {
        fitting += count_of(base + 15u) - count_of(base - 1u);
        if (fitting > best.y) {
            best = vec2<u32>(base, fitting);
        }
    }
    return best;
}

@compute @workgroup_size(WORKGROUP)
fn encode(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= params.threads) {
        return;
    }
    let group = params.first_group + id.x;
    let positions = group_positions(group);
    let first = cursor_at(group * GROUP_POSITIONS);
    var least = 255u;
    var greatest = 0u;
    var cursor = first;
    for (var place = 0u; place < positions; place++) {
        let value = residual(cursor);
        least = min(least, value);
        greatest = max(greatest, value);
        cursor = next(cursor);
    }
    var base = least;
    var mark = 0u;
    var size = 0u;
    if (greatest - least > 15u) {
        let best = best_base(group, positions, least, greatest);
        base = best.x;
        mark = PATCHED;
        size = PATCH_HEAD_BYTES + EXCEPTION_BYTES * (positions - best.y);
    }
    cursor = first;
    for (var word = 0u; word < GROUP_WORDS; word++) {
        var codes = 0u;
        for (var place = 8u * word; place < min(8u * word + 8u, positions); place++) {
            // Below the base it wraps around to a large number.
            let code = residual(cursor) - base;
            if (code <= 15u) {
                codes |= code << (4u * (place % 8u));
            }
            cursor = next(cursor);
        }
        if (word == GROUP_WORDS - 1u) {
            codes |= (base | mark) << 24u;
        }
        head[params.groups_at + group * GROUP_WORDS + word] = codes;
    }
    sizes[group] = size;
}
