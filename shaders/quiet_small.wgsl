// Quiet moves of the small side: to positions with the large side to move and the same large row.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> moves: array<u32>;
@group(0) @binding(2) var<storage, read> map: array<u32>;
@group(0) @binding(3) var<storage, read> large_moves: array<u32>;
@group(0) @binding(4) var<storage, read_write> small_moves: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn quiet_small(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= params.threads) {
        return;
    }
    let row = params.first_row + id.x / params.words;
    let word = id.x % params.words;
    let at = row * params.words + word - params.small_base;
    let children = row * params.words - params.large_base;
    var best = unpack4xU8(small_moves[at]);
    for (var lane = 0u; lane < 4u && 4u * word + lane < params.small_rows; lane++) {
        let mover = 4u * word + lane;
        for (var entry = moves[mover]; entry < moves[mover + 1u]; entry++) {
            let quiet = moves[params.entries_at + entry];
            let only_if_empty = quiet >> RANK_BITS;
            if (only_if_empty > 0u) {
                let captured = map[(only_if_empty - 1u) * params.others + row] >> RANK_BITS;
                if (captured > 0u) {
                    continue;
                }
            }
            let own = quiet & RANK_MASK;
            let child = extractBits(large_moves[children + own / 4u], 8u * (own % 4u), 8u);
            best[lane] = max(best[lane], params.total - child);
        }
    }
    small_moves[at] = pack4xU8(best);
}
