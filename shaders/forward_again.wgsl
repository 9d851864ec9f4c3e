// Moves that end in the store: worth what they store plus what the mover still collects.

@compute @workgroup_size(WORKGROUP)
fn forward_again(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= params.threads) {
        return;
    }
    let work = work_of(id.x);
    let frame = frames[params.frames_at];
    var best = unpack4xU8(scores[work.at]);
    for (var entry = work.first; entry < work.end; entry++) {
        let own = moves[entry] & RANK_MASK;
        let stored = moves[entry] >> RANK_BITS;
        for (var lane = 0u; lane < 4u && work.other + lane < params.others; lane++) {
            let opponent = spilled(work.other + lane);
            best[lane] = max(best[lane], stored + score(frame, opponent * frame.rows + own, own));
        }
    }
    scores[work.at] = pack4xU8(best);
}
