// Moves that end the turn: worth what the opponent does not collect. The children are runs over the opponent's rows.

@compute @workgroup_size(WORKGROUP)
fn forward_pass(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= params.threads) {
        return;
    }
    let work = work_of(id.x);
    let frame = frames[params.frames_at];
    var best = unpack4xU8(scores[work.at]);
    for (var entry = work.first; entry < work.end; entry++) {
        let own = moves[entry] & RANK_MASK;
        for (var lane = 0u; lane < 4u && work.other + lane < params.others; lane++) {
            let opponent = spilled(work.other + lane);
            best[lane] = max(best[lane], params.total - score(frame, own * frame.rows + opponent, opponent));
        }
    }
    scores[work.at] = pack4xU8(best);
}
