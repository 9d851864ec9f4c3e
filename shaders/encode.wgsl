// Packs scores into groups. A thread packs one group and stores the number of bytes of its patch.
//
// Few groups have exceptions. For these, threads of the workgroup that would otherwise wait try the
// bases, BASE_THREADS for each group. The first word of such a group still holds its codes; the
// stage `patch` moves them.

@group(0) @binding(4) var<storage, read_write> sizes: array<u32>;

// Number of groups with exceptions in this workgroup.
var<workgroup> exceptional: array<atomic<u32>, 1>;
// For each group with exceptions, a byte each: its thread, the least and the greatest residual.
var<workgroup> ranges: array<u32, WORKGROUP>;
// For each thread, the best base for its group: the number of residuals that fit, shifted left by 8,
// plus 255 - base. 0 without exceptions.
var<workgroup> best: array<atomic<u32>, WORKGROUP>;

// The residuals of four positions with mover's rows that share a word of scores.
fn aligned(row: u32, word: u32) -> u32 {
    return scores[row * params.words + word] + splat4(BASE_BIAS) - profile[word];
}

// The residuals of `count` positions from this one on, at most four. The other lanes repeat the
// first one.
fn four_residuals(cursor: Cursor, count: u32) -> u32 {
    var found = 0u;
    if (cursor.mover + 3u < params.rows) {
        let low = aligned(cursor.row, cursor.mover / 4u);
        let high = aligned(cursor.row, (cursor.mover + 3u) / 4u);
        let shift = 8u * (cursor.mover % 4u);
        found = (low >> shift) | ((high << 1u) << (31u - shift));
    } else {
        // One or more runs end here.
        var place = cursor;
        for (var lane = 0u; lane < count; lane++) {
            found |= residual(place) << (8u * lane);
            place = next(place);
        }
    }
    let mask = lanes_below(count);
    return (found & mask) | (splat4(found & 0xffu) & ~mask);
}

// All bits of the first one to four lanes.
fn lanes_below(count: u32) -> u32 {
    return 0xffffffffu >> (8u * (4u - count));
}

// The place four positions later.
fn skip_four(cursor: Cursor) -> Cursor {
    var place = Cursor(cursor.row, cursor.mover + 4u);
    while (place.mover >= params.rows) {
        place = Cursor(place.row + 1u, place.mover - params.rows);
    }
    return place;
}

// Number of residuals of a group from `base` to base + 15.
fn fitting(first: Cursor, positions: u32, base: u32) -> u32 {
    var cursor = first;
    var fit = 0u;
    for (var place = 0u; place < positions; place += 4u) {
        let count = min(4u, positions - place);
        let values = four_residuals(cursor, count);
        let fits = at_least4(values, splat4(base)) & ~at_least4(values, splat4(base + 16u));
        fit += countOneBits(fits & lanes_below(count));
        cursor = skip_four(cursor);
    }
    return fit;
}

// Four codes of residuals above a base, in four bits each; zero where they do not fit.
fn four_codes(values: u32, base: u32) -> u32 {
    let above = (values | HIGH_BITS) - splat4(base);
    // Of those at or above the base, the ones that differ from it by less than 16.
    let fits = above & ~((above & 0x70707070u) + 0x70707070u) & HIGH_BITS;
    let codes = above & ((fits >> 3u) - (fits >> 7u));
    let pairs = (codes | (codes >> 4u)) & 0x00ff00ffu;
    return (pairs | (pairs >> 8u)) & 0xffffu;
}

struct Range {
    least: u32,
    greatest: u32,
}

// The least and the greatest residual of a group.
fn range_of(first: Cursor, positions: u32) -> Range {
    var cursor = first;
    var least4 = splat4(127u);
    var greatest4 = 0u;
    for (var place = 0u; place < positions; place += 4u) {
        let values = four_residuals(cursor, min(4u, positions - place));
        least4 = min4(least4, values);
        greatest4 = max4(greatest4, values);
        cursor = skip_four(cursor);
    }
    let leasts = unpack4xU8(least4);
    let greatests = unpack4xU8(greatest4);
    return Range(
        min(min(leasts.x, leasts.y), min(leasts.z, leasts.w)),
        max(max(greatests.x, greatests.y), max(greatests.z, greatests.w)),
    );
}

// Tries bases for the groups with exceptions. Chooses the smallest base with which the most
// residuals fit 4 bits. The range is seldom much wider.
fn try_bases(first_group: u32, local: u32) {
    let count = atomicLoad(&exceptional[0]);
    for (var number = local / BASE_THREADS; number < count; number += WORKGROUP / BASE_THREADS) {
        let range = ranges[number];
        let greatest = range >> 16u;
        let group = first_group + (range & 0xffu);
        let first = cursor_of(group);
        let positions = group_positions(group);
        for (var base = ((range >> 8u) & 0xffu) + local % BASE_THREADS; base + 15u <= greatest; base += BASE_THREADS) {
            atomicMax(&best[range & 0xffu], (fitting(first, positions, base) << 8u) | (255u - base));
        }
    }
}

@compute @workgroup_size(WORKGROUP)
fn encode(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let first_group = params.first_group + workgroup.x * WORKGROUP;
    let is_needed = workgroup.x * WORKGROUP + local < params.threads;
    let group = first_group + local;
    let first = cursor_of(group);
    var positions = 0u;
    if (is_needed) {
        positions = group_positions(group);
    }
    if (local == 0u) {
        atomicStore(&exceptional[0], 0u);
    }
    atomicStore(&best[local], 0u);
    let range = range_of(first, positions);
    workgroupBarrier();
    let is_exceptional = is_needed && range.greatest > range.least + 15u;
    if (is_exceptional) {
        ranges[atomicAdd(&exceptional[0], 1u)] = local | (range.least << 8u) | (range.greatest << 16u);
    }
    workgroupBarrier();
    try_bases(first_group, local);
    workgroupBarrier();
    if (!is_needed) {
        return;
    }
    var base = range.least;
    var mark = 0u;
    var size = 0u;
    if (is_exceptional) {
        let found = atomicLoad(&best[local]);
        base = 255u - (found & 0xffu);
        mark = PATCHED;
        size = PATCH_HEAD_BYTES + EXCEPTION_BYTES * (positions - (found >> 8u));
    }
    var cursor = first;
    for (var word = 0u; word < GROUP_WORDS; word++) {
        var codes = 0u;
        for (var half = 0u; half < 2u; half++) {
            let place = 8u * word + 4u * half;
            if (place < positions) {
                let count = min(4u, positions - place);
                let four = four_codes(four_residuals(cursor, count), base);
                codes |= (four & (0xffffu >> (4u * (4u - count)))) << (16u * half);
                cursor = skip_four(cursor);
            }
        }
        if (word == GROUP_WORDS - 1u) {
            codes |= (base | mark) << 24u;
        }
        groups[words_of(group) + word] = codes;
    }
    sizes[group] = size;
}
