// Moves that end the turn: worth the seeds that the opponent does not collect. The children are
// runs over the opponent's rows.

@compute @workgroup_size(WORKGROUP)
fn forward_pass(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= params.threads) {
        return;
    }
    let work = work_of(id.x);
    let frame = frames[params.frames_at];
    var best = unpack4xU8(scores[work.at]);
    if (frame.rows == OVER) {
        best = max(best, vec4<u32>(params.total - frame.profile_at));
    } else {
        let opponents = spilled(work.word);
        let most = params.total + BASE_BIAS - profiles(frame.profile_at + opponents);
        for (var entry = work.first; entry < work.end; entry++) {
            let own = (moves[entry] & RANK_MASK) - params.first_waiting;
            if (own < params.waiting_rows) {
                let index = own * frame.rows + opponents;
                best = max(best, most - residuals(vec4<u32>(frame.groups_at), vec4<u32>(frame.patches_at), index));
            }
        }
    }
    scores[work.at] = pack4xU8(best);
}
