// Sowings that end in the other row and may go on from there: played position by position.

// The mover's rows, then those of the other side, by rank: two words each, one byte per pit.
@group(0) @binding(6) var<storage, read> rows: array<u32>;

// Sows from `pit` until the move is over; returns whether the last seed fell into the store. The ring holds the mover's
// row, the store, and the other row.
fn sow(ring: ptr<function, array<u32, RING>>, pit: u32) -> bool {
    let places = 2u * params.pits + 1u;
    var place = pit;
    loop {
        var hand = (*ring)[place];
        (*ring)[place] = 0u;
        while (hand > 0u) {
            place = select(place + 1u, 0u, place + 1u == places);
            (*ring)[place] += 1u;
            hand -= 1u;
        }
        if (place == params.pits || (*ring)[place] == 1u) {
            break;
        }
    }
    return place == params.pits;
}

fn relay_score(row: u32, other: u32, pit: u32) -> u32 {
    var ring: array<u32, RING>;
    for (var place = 0u; place < params.pits; place++) {
        let shift = 8u * (place % 4u);
        ring[place] = extractBits(rows[2u * row + place / 4u], shift, 8u);
        ring[params.pits + 1u + place] = extractBits(rows[params.others_at + 2u * other + place / 4u], shift, 8u);
    }
    let in_store = sow(&ring, pit);
    var mover_seeds = 0u;
    var other_seeds = 0u;
    for (var place = 0u; place < params.pits; place++) {
        mover_seeds += ring[place];
        other_seeds += ring[params.pits + 1u + place];
    }
    let mover_first = in_store && params.moves_again > 0u && other_seeds > 0u;
    let to_move = select(other_seeds, mover_seeds, mover_first);
    let waiting = select(mover_seeds, other_seeds, mover_first);
    let frame = frames[params.frames_at + to_move * params.total + waiting];
    if (frame.rows == ABSENT) {
        return 0u;
    }
    var found = frame.profile_at;
    if (frame.rows != OVER) {
        let mover_rank = rank(&ring, 0u);
        let other_rank = rank(&ring, params.pits + 1u);
        let rank_to_move = select(other_rank, mover_rank, mover_first);
        let rank_waiting = select(mover_rank, other_rank, mover_first);
        let index = vec4<u32>(rank_waiting * frame.rows + rank_to_move);
        let packed = residuals(vec4<u32>(frame.groups_at), vec4<u32>(frame.patches_at), index).x;
        found = packed + operand_byte(frame.profile_at + rank_to_move) - BASE_BIAS;
    }
    return select(params.total - found, ring[params.pits] + found, mover_first);
}

@compute @workgroup_size(WORKGROUP)
fn forward_relay(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= params.threads) {
        return;
    }
    let work = work_of(id.x);
    var best = unpack4xU8(scores[work.at]);
    for (var entry = work.first; entry < work.end; entry++) {
        for (var lane = 0u; lane < 4u && 4u * work.word + lane < params.others; lane++) {
            best[lane] = max(best[lane], relay_score(work.row, 4u * work.word + lane, moves[entry]));
        }
    }
    scores[work.at] = pack4xU8(best);
}
