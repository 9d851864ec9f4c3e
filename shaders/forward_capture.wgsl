// Moves that capture a pit of the other row. The child's frame depends on the seeds in it.

@compute @workgroup_size(WORKGROUP)
fn forward_capture(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= params.threads) {
        return;
    }
    let work = work_of(id.x);
    var best = unpack4xU8(scores[work.at]);
    for (var entry = work.first; entry < work.end; entry++) {
        let own = (moves[entry] & RANK_MASK) - params.first_waiting;
        if (own >= params.waiting_rows) {
            continue;
        }
        let pit = (moves[entry] >> RANK_BITS) & PIT_MASK;
        let even_empty = (moves[entry] & EVEN_EMPTY) != 0u;
        // For each pit the map has a whole number of words of scores.
        let place = map[params.map_at / 4u + pit * params.words + work.word];
        let captured = place >> vec4<u32>(RANK_BITS);
        let opponents = place & vec4<u32>(RANK_MASK);
        let x = frames[params.frames_at + captured.x];
        let y = frames[params.frames_at + captured.y];
        let z = frames[params.frames_at + captured.z];
        let w = frames[params.frames_at + captured.w];
        let rows = vec4<u32>(x.rows, y.rows, z.rows, w.rows);
        let profile_at = vec4<u32>(x.profile_at, y.profile_at, z.profile_at, w.profile_at);
        // Frames that are over or absent have no groups: data read for them is ignored.
        let groups_at = vec4<u32>(x.groups_at, y.groups_at, z.groups_at, w.groups_at);
        let patches_at = vec4<u32>(x.patches_at, y.patches_at, z.patches_at, w.patches_at);
        let is_packed = groups_at > vec4<u32>(0u);
        let index = select(vec4<u32>(0u), own * rows + opponents, is_packed);
        let profile = profiles(select(vec4<u32>(0u), profile_at + opponents, is_packed));
        let packed = residuals(groups_at, patches_at, index) + profile - BASE_BIAS;
        let found = params.total - select(profile_at, packed, is_packed);
        let is_move = (captured > vec4<u32>(0u)) | vec4<bool>(even_empty);
        best = max(best, select(vec4<u32>(0u), found, is_move & (rows != vec4<u32>(ABSENT))));
    }
    scores[work.at] = pack4xU8(best);
}
