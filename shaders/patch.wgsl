// Writes the patches of groups with exceptions, each where the sizes of those before it end, and
// its offset to the group. One thread per group.

@group(0) @binding(4) var<storage, read> sizes: array<u32>;
@group(0) @binding(5) var<storage, read> block_sums: array<u32>;
@group(0) @binding(6) var<storage, read> superblock_sums: array<u32>;
// Initially zero; neighbouring patches share words.
@group(0) @binding(7) var<storage, read_write> patches: array<atomic<u32>>;

fn put(at: u32, byte: u32) {
    atomicOr(&patches[at / 4u], byte << (8u * (at % 4u)));
}

@compute @workgroup_size(WORKGROUP)
fn patch_(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= params.threads) {
        return;
    }
    let group = params.first_group + id.x;
    let group_at = words_of(group);
    let mark = groups[group_at + GROUP_WORDS - 1u] >> 24u;
    if ((mark & PATCHED) == 0u) {
        return;
    }
    let base = mark & ~PATCHED;
    let offset = sizes[group] + block_sums[group / SCAN_BLOCK] + superblock_sums[group / (SCAN_BLOCK * SCAN_BLOCK)];
    for (var byte = 0u; byte < 4u; byte++) {
        put(offset + byte, extractBits(groups[group_at], 8u * byte, 8u));
    }
    groups[group_at] = offset;
    var exceptions = 0u;
    var cursor = cursor_of(group);
    let positions = group_positions(group);
    for (var place = 0u; place < positions; place++) {
        let code = (residual(cursor) - base) & 0xffu;
        if (code > 15u) {
            let at = offset + PATCH_HEAD_BYTES + exceptions * EXCEPTION_BYTES;
            put(at, place);
            put(at + 1u, code);
            exceptions += 1u;
        }
        cursor = next(cursor);
    }
    put(offset + PATCH_HEAD_BYTES - 1u, exceptions);
}
