// Moves that capture a pit of the other row: the child's frame depends on the seeds it holds.

@compute @workgroup_size(WORKGROUP)
fn forward_capture(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= params.threads) {
        return;
    }
    let work = work_of(id.x);
    var best = unpack4xU8(scores[work.at]);
    for (var entry = work.first; entry < work.end; entry++) {
        let own = moves[entry] & RANK_MASK;
        let pit = (moves[entry] >> RANK_BITS) & PIT_MASK;
        let even_empty = (moves[entry] & EVEN_EMPTY) != 0u;
        for (var lane = 0u; lane < 4u && work.other + lane < params.others; lane++) {
            let place = map[params.map_at + pit * params.others + work.other + lane];
            let captured = place >> RANK_BITS;
            let frame = frames[params.frames_at + captured];
            if ((captured == 0u && !even_empty) || frame.rows == ABSENT) {
                continue;
            }
            let opponent = place & RANK_MASK;
            best[lane] = max(best[lane], params.total - score(frame, own * frame.rows + opponent, opponent));
        }
    }
    scores[work.at] = pack4xU8(best);
}
