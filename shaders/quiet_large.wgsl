// Quiet moves of the large side, to positions with the small side to move and a large row of a
// lower level.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> moves: array<u32>;
@group(0) @binding(2) var<storage, read> map: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> small_moves: array<u32>;
@group(0) @binding(4) var<storage, read_write> large_moves: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn quiet_large(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= params.threads) {
        return;
    }
    let number = id.x / params.words;
    let word = id.x - number * params.words;
    let row = params.first_row + number;
    let at = row * params.words + word - params.large_base;
    var best = large_moves[at];
    let end = params.moves_at + moves[row + 1u];
    for (var entry = params.moves_at + moves[row]; entry < end; entry++) {
        let quiet = moves[entry];
        let row_after = quiet & RANK_MASK;
        if (row_after - params.first_child >= params.child_rows) {
            continue;
        }
        let child = row_after * params.words + word - params.small_base;
        var found = splat4(params.total) - small_moves[child];
        let only_if_empty = quiet >> RANK_BITS;
        if (only_if_empty > 0u) {
            let captured = map[(only_if_empty - 1u) * params.words + word] >> vec4<u32>(RANK_BITS);
            found &= pack4xU8(select(vec4<u32>(0u), vec4<u32>(0xffu), captured == vec4<u32>(0u)));
        }
        best = max4(best, found);
    }
    large_moves[at] = best;
}
