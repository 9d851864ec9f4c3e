// Moves that end in the store: worth the seeds that they store plus those that the mover still
// collects.
//
// For each other row, the children of neighbouring mover's rows are near each other. So
// neighbouring threads have neighbouring groups, and a workgroup has AGAIN_WORDS words of each of
// AGAIN_GROUPS groups.

@compute @workgroup_size(WORKGROUP)
fn forward_again(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let across = (params.words + AGAIN_WORDS - 1u) / AGAIN_WORDS;
    let tile = workgroup.x / across;
    let number = tile * AGAIN_GROUPS + local % AGAIN_GROUPS;
    let word = (workgroup.x - tile * across) * AGAIN_WORDS + local / AGAIN_GROUPS;
    if (number >= params.groups || word >= params.words) {
        return;
    }
    let work = work_at(number, word);
    let frame = frames[params.frames_at];
    var best = unpack4xU8(scores[work.at]);
    let opponents = spilled(work.word) - params.first_waiting;
    let is_there = opponents < vec4<u32>(params.waiting_rows);
    let first = select(vec4<u32>(0u), opponents * frame.rows, is_there);
    for (var entry = work.first; entry < work.end; entry++) {
        let own = moves[entry] & RANK_MASK;
        let stored = moves[entry] >> RANK_BITS;
        if (frame.rows == OVER) {
            best = max(best, vec4<u32>(stored + frame.profile_at));
        } else {
            let profile = operand_byte(frame.profile_at + own);
            let found = residuals(vec4<u32>(frame.groups_at), vec4<u32>(frame.patches_at), first + own);
            best = max(best, select(vec4<u32>(0u), stored + profile - BASE_BIAS + found, is_there));
        }
    }
    scores[work.at] = pack4xU8(best);
}
