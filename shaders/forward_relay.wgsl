// Sowings that end in the other row and may go on from there: played position by position.

// The mover's rows, then those of the other side, by rank: two words each, one byte per pit.
@group(0) @binding(6) var<storage, read> rows: array<u32>;

// A ring is the mover's row, the store, and the other row: a byte for each place, up to RING. A seed in each of the first
// places, by their number:
const ONES: array<vec4<u32>, RING + 1u> = array<vec4<u32>, RING + 1u>(
    vec4<u32>(0x00000000u, 0x00000000u, 0x00000000u, 0x00000000u),
    vec4<u32>(0x00000001u, 0x00000000u, 0x00000000u, 0x00000000u),
    vec4<u32>(0x00000101u, 0x00000000u, 0x00000000u, 0x00000000u),
    vec4<u32>(0x00010101u, 0x00000000u, 0x00000000u, 0x00000000u),
    vec4<u32>(0x01010101u, 0x00000000u, 0x00000000u, 0x00000000u),
    vec4<u32>(0x01010101u, 0x00000001u, 0x00000000u, 0x00000000u),
    vec4<u32>(0x01010101u, 0x00000101u, 0x00000000u, 0x00000000u),
    vec4<u32>(0x01010101u, 0x00010101u, 0x00000000u, 0x00000000u),
    vec4<u32>(0x01010101u, 0x01010101u, 0x00000000u, 0x00000000u),
    vec4<u32>(0x01010101u, 0x01010101u, 0x00000001u, 0x00000000u),
    vec4<u32>(0x01010101u, 0x01010101u, 0x00000101u, 0x00000000u),
    vec4<u32>(0x01010101u, 0x01010101u, 0x00010101u, 0x00000000u),
    vec4<u32>(0x01010101u, 0x01010101u, 0x01010101u, 0x00000000u),
    vec4<u32>(0x01010101u, 0x01010101u, 0x01010101u, 0x00000001u),
);

// What a place holds.
fn place_of(ring: vec4<u32>, place: u32) -> u32 {
    let low = select(ring.x, ring.y, place >= 4u);
    let high = select(ring.z, ring.w, place >= 12u);
    return extractBits(select(low, high, place >= 8u), 8u * (place % 4u), 8u);
}

// A row, two words, from its first place on.
fn sown_at(row: vec2<u32>, place: u32) -> vec4<u32> {
    let shift = 8u * (place % 4u);
    let words = vec3<u32>(
        row.x << shift,
        (row.y << shift) | ((row.x >> 1u) >> (31u - shift)),
        (row.y >> 1u) >> (31u - shift),
    );
    return select(vec4<u32>(words, 0u), vec4<u32>(0u, words), vec4<bool>(place >= 4u));
}

// The row that begins at a place, below 8.
fn row_at(ring: vec4<u32>, place: u32) -> vec2<u32> {
    let shift = 8u * (place % 4u);
    let words = select(ring.xyz, ring.yzw, vec3<bool>(place >= 4u));
    return vec2<u32>(
        (words.x >> shift) | ((words.y << 1u) << (31u - shift)),
        (words.y >> shift) | ((words.z << 1u) << (31u - shift)),
    );
}

struct Sown {
    ring: vec4<u32>,
    // Where the last seed fell.
    place: u32,
}

// Sows from `pit` until the move is over.
fn sow(before: vec4<u32>, pit: u32) -> Sown {
    var ones = ONES;
    let places = 2u * params.pits + 1u;
    var ring = before;
    var place = pit;
    loop {
        var hand = place_of(ring, place);
        // The pit is emptied: as many seeds are taken as lie between the places before it and those up to it.
        ring -= (ones[place + 1u] - ones[place]) * hand;
        while (hand >= places) {
            ring += ones[places];
            hand -= places;
        }
        let end = place + 1u + hand;
        if (end <= places) {
            ring += ones[end] - ones[place + 1u];
            place = end - 1u;
        } else {
            ring += ones[places] - ones[place + 1u] + ones[end - places];
            place = end - places - 1u;
        }
        if (place == params.pits || place_of(ring, place) == 1u) {
            break;
        }
    }
    return Sown(ring, place);
}

// The mover's row.
fn mover_part(ring: vec4<u32>) -> vec2<u32> {
    let bits = 8u * params.pits;
    let low = select((1u << (bits % 32u)) - 1u, 0xffffffffu, bits >= 32u);
    return ring.xy & vec2<u32>(low, select(0u, (1u << (bits % 32u)) - 1u, bits > 32u));
}

// The seeds of a row.
fn seeds_of(row: vec2<u32>) -> u32 {
    return ((row.x + row.y) * 0x01010101u) >> 24u;
}

fn relay_score(row: u32, other: u32, pit: u32) -> u32 {
    let mover_row = vec2<u32>(rows[2u * row], rows[2u * row + 1u]);
    let other_row = vec2<u32>(rows[params.others_at + 2u * other], rows[params.others_at + 2u * other + 1u]);
    let sown = sow(vec4<u32>(mover_row, 0u, 0u) | sown_at(other_row, params.pits + 1u), pit);
    let in_store = sown.place == params.pits;
    let mover_left = mover_part(sown.ring);
    let other_left = row_at(sown.ring, params.pits + 1u);
    let mover_seeds = seeds_of(mover_left);
    let other_seeds = seeds_of(other_left);
    let mover_first = in_store && params.moves_again > 0u && other_seeds > 0u;
    let to_move = select(other_seeds, mover_seeds, mover_first);
    let waiting = select(mover_seeds, other_seeds, mover_first);
    let frame = frames[params.frames_at + to_move * params.total + waiting];
    if (frame.rows == ABSENT) {
        return 0u;
    }
    var found = frame.profile_at;
    if (frame.rows != OVER) {
        let rank_to_move = rank(select(other_left, mover_left, vec2<bool>(mover_first)), to_move);
        let rank_waiting = rank(select(mover_left, other_left, vec2<bool>(mover_first)), waiting);
        let index = vec4<u32>(rank_waiting * frame.rows + rank_to_move);
        let packed = residuals(vec4<u32>(frame.groups_at), vec4<u32>(frame.patches_at), index).x;
        found = packed + operand_byte(frame.profile_at + rank_to_move) - BASE_BIAS;
    }
    return select(params.total - found, place_of(sown.ring, params.pits) + found, mover_first);
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
