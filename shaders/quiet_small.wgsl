// Quiet moves of the small side, to positions with the large side to move and the same large row.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> moves: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> map: array<u32>;
@group(0) @binding(3) var<storage, read> large_moves: array<u32>;
@group(0) @binding(4) var<storage, read_write> small_moves: array<u32>;

// Returns true if a move is possible in this large row. `only_if_empty` is the number (from 1) of
// the pit that must be empty, or 0 if the move is always possible. NO_MOVE counts as 0, and the
// caller removes such moves.
fn is_move(only_if_empty: u32, row: u32) -> bool {
    let pit = only_if_empty % NO_MOVE;
    if (pit == 0u) {
        return true;
    }
    return (map[(pit - 1u) * params.map_stride + row] >> RANK_BITS) == 0u;
}

@compute @workgroup_size(WORKGROUP)
fn quiet_small(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= params.threads) {
        return;
    }
    let number = id.x / params.words;
    let word = id.x - number * params.words;
    let row = params.first_row + number;
    let at = row * params.words + word - params.small_base;
    let children = row * params.words - params.large_base;
    var best = small_moves[at];
    let entries = moves[params.moves_at / 4u + word];
    // An entry has one move, or NO_MOVE, for each of the four small rows.
    for (var entry = entries.x; entry < entries.y; entry++) {
        let quiet = moves[entry];
        let own = quiet & vec4<u32>(RANK_MASK);
        let from_at = children + own / 4u;
        let words = vec4<u32>(
            large_moves[from_at.x],
            large_moves[from_at.y],
            large_moves[from_at.z],
            large_moves[from_at.w],
        );
        let scores = (words >> (8u * (own % 4u))) & vec4<u32>(0xffu);
        var found = splat4(params.total) - (scores.x | (scores.y << 8u) | (scores.z << 16u) | (scores.w << 24u));
        let condition = quiet >> vec4<u32>(RANK_BITS);
        let absent = condition / NO_MOVE;
        found &= ~((absent.x | (absent.y << 8u) | (absent.z << 16u) | (absent.w << 24u)) * 0xffu);
        if ((condition.x | condition.y | condition.z | condition.w) % NO_MOVE != 0u) {
            let counts = vec4<bool>(
                is_move(condition.x, row),
                is_move(condition.y, row),
                is_move(condition.z, row),
                is_move(condition.w, row),
            );
            found &= pack4xU8(select(vec4<u32>(0u), vec4<u32>(0xffu), counts));
        }
        best = max4(best, found);
    }
    small_moves[at] = best;
}
