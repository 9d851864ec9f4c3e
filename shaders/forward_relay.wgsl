// Sowings that end in the other row and may continue from there. They are followed position by
// position, but only from where they cross to the other row (crates/tables/src/rows/crossings.rs).
// A group is a crossing; its entries are the mover's rows whose relays have it.

// The other rows, by rank: two words each, one byte per pit.
@group(0) @binding(6) var<storage, read> rows: array<u32>;

// The ring is the mover's row, the other row and the store. Its words have a byte for each pit: the
// mover's from byte 0 on, those of the other row from byte OTHER_ROW on. A place is such a byte, or
// STORE. The store holds all seeds that have left the rows.

// Seeds in a place other than the store.
fn held_at(ring: vec4<u32>, place: u32) -> u32 {
    let low = select(ring.x, ring.y, place >= 4u);
    let high = select(ring.z, ring.w, place >= 12u);
    return extractBits(select(low, high, place >= 8u), 8u * (place % 4u), 8u);
}

// Seeds to sow on after the last seed of a sowing fell at `place`: 0 in the store and in a pit that
// was empty.
fn hand_at(ring: vec4<u32>, place: u32) -> u32 {
    let held = held_at(ring, place);
    return select(held, 0u, place == STORE || held == 1u);
}

struct Sown {
    ring: vec4<u32>,
    // Place where the last seed fell.
    place: u32,
}

// Continues until the move is over, after the last seed of a sowing fell at `last`.
fn sow(before: vec4<u32>, last: u32) -> Sown {
    var ring = before;
    var place = last;
    var hand = hand_at(ring, place);
    // All values used after the loop leave it only here: see "A value that leaves a loop" in
    // docs/contributing/shaders.md.
    while (hand > 0u) {
        // This stage has the sowings in place of a map.
        let sowing = 2u * (place * params.hands + hand);
        ring += map[sowing];
        place = map[sowing + 1u].x;
        hand = hand_at(ring, place);
    }
    return Sown(ring, place);
}

// A seed in each of the first `count` pits of a row.
fn ones(count: u32) -> vec2<u32> {
    // A shift by 32 is undefined, so half of it is done twice.
    let half = vec2<u32>(16u - 4u * min(count, 4u), 32u - 4u * max(count, 4u));
    return (vec2<u32>(0x01010101u) >> half) >> half;
}

// The seeds of a row.
fn seeds_of(row: vec2<u32>) -> u32 {
    return ((row.x + row.y) * 0x01010101u) >> 24u;
}

// One seed in each pit for each lap of `spilled` seeds sown into a row, and one in the first pits
// for the rest.
fn spill(spilled: u32) -> vec2<u32> {
    let laps = spilled / params.pits;
    return ones(params.pits) * laps + ones(spilled - laps * params.pits);
}

// Score of a relay that crossed with the mover's row `own` and `spilled` seeds sown into the other
// row.
fn relay_score(own: vec2<u32>, spilled: u32, other: u32) -> u32 {
    let other_row = vec2<u32>(rows[2u * other], rows[2u * other + 1u]);
    let last = OTHER_ROW + (spilled - 1u) % params.pits;
    let sown = sow(vec4<u32>(own, other_row + spill(spilled)), last);
    let in_store = sown.place == STORE;
    let mover_left = sown.ring.xy;
    let other_left = sown.ring.zw;
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
        let row_waiting = select(mover_left, other_left, vec2<bool>(mover_first));
        let rank_waiting = rank(row_waiting, waiting) - params.first_waiting;
        if (rank_waiting >= params.waiting_rows) {
            return 0u;
        }
        let index = vec4<u32>(rank_waiting * frame.rows + rank_to_move);
        let packed = residuals(vec4<u32>(frame.groups_at), vec4<u32>(frame.patches_at), index).x;
        found = packed + operand_byte(frame.profile_at + rank_to_move) - BASE_BIAS;
    }
    // All other seeds are in the store.
    return select(params.total - found, params.total - to_move - waiting + found, mover_first);
}

@compute @workgroup_size(WORKGROUP)
fn forward_relay(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= params.threads) {
        return;
    }
    let number = id.x / params.words;
    let word = id.x - number * params.words;
    let group = params.groups_at + 2u * (params.first_group + number);
    let first = params.entries_at + moves[group + 1u];
    let end = params.entries_at + moves[group + 3u];
    // Rows ascend.
    if (moves[end - 1u] < params.first_row || moves[first] >= params.end_row) {
        return;
    }
    let crossing = params.crossings_at + 2u * (params.first_group + number);
    let own = vec2<u32>(moves[crossing], moves[crossing + 1u]);
    var found = vec4<u32>(0u);
    for (var lane = 0u; lane < 4u && 4u * word + lane < params.others; lane++) {
        found[lane] = relay_score(own, moves[group], 4u * word + lane);
    }
    for (var entry = first; entry < end; entry++) {
        let row = moves[entry];
        if (row >= params.first_row && row < params.end_row) {
            let at = row * params.words + word - params.base;
            scores[at] = pack4xU8(max(unpack4xU8(scores[at]), found));
        }
    }
}
