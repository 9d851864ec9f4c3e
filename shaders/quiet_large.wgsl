// Quiet moves of the large side: to positions with the small side to move and a large row of a lower level.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> moves: array<u32>;
@group(0) @binding(2) var<storage, read> map: array<u32>;
@group(0) @binding(3) var<storage, read> small_moves: array<u32>;
@group(0) @binding(4) var<storage, read_write> large_moves: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn quiet_large(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= params.threads) {
        return;
    }
    let row = params.first_row + id.x / params.words;
    let word = id.x % params.words;
    let at = row * params.words + word - params.large_base;
    var best = unpack4xU8(large_moves[at]);
    for (var entry = moves[row]; entry < moves[row + 1u]; entry++) {
        let quiet = moves[params.entries_at + entry];
        let child = (quiet & RANK_MASK) * params.words + word - params.small_base;
        let scores = vec4<u32>(params.total) - unpack4xU8(small_moves[child]);
        let only_if_empty = quiet >> RANK_BITS;
        for (var lane = 0u; lane < 4u && 4u * word + lane < params.others; lane++) {
            if (only_if_empty > 0u) {
                let captured = map[(only_if_empty - 1u) * params.others + 4u * word + lane] >> RANK_BITS;
                if (captured > 0u) {
                    continue;
                }
            }
            best[lane] = max(best[lane], scores[lane]);
        }
    }
    large_moves[at] = pack4xU8(best);
}
