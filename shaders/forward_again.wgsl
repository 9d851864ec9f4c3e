// Moves that end in the store: worth what they store plus what the mover still collects.

@compute @workgroup_size(WORKGROUP)
fn forward_again(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= params.threads) {
        return;
    }
    let work = work_of(id.x);
    let frame = frames[params.frames_at];
    var best = unpack4xU8(scores[work.at]);
    let opponents = spilled(work.word) * frame.rows;
    for (var entry = work.first; entry < work.end; entry++) {
        let own = moves[entry] & RANK_MASK;
        let stored = moves[entry] >> RANK_BITS;
        if (frame.rows == OVER) {
            best = max(best, vec4<u32>(stored + frame.profile_at));
        } else {
            let profile = operand_byte(frame.profile_at + own);
            let found = residuals(vec4<u32>(frame.groups_at), vec4<u32>(frame.patches_at), opponents + own);
            best = max(best, stored + profile - BASE_BIAS + found);
        }
    }
    scores[work.at] = pack4xU8(best);
}
