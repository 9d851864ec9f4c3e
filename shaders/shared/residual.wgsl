// Computes the residuals of a group from scores: those of the positions from an index on, biased so that they are
// positive.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> scores: array<u32>;
@group(0) @binding(2) var<storage, read> profile: array<u32>;
@group(0) @binding(3) var<storage, read_write> groups: array<u32>;

// A place in a window of scores, run by run.
struct Cursor {
    row: u32,
    mover: u32,
}

// The place where a group begins.
fn cursor_of(group: u32) -> Cursor {
    let index = (group - params.origin) * GROUP_POSITIONS;
    return Cursor(index / params.rows, index % params.rows);
}

fn residual(cursor: Cursor) -> u32 {
    let shift = 8u * (cursor.mover % 4u);
    let word = cursor.row * params.words + cursor.mover / 4u;
    let score = extractBits(scores[word], shift, 8u);
    return score + BASE_BIAS - extractBits(profile[cursor.mover / 4u], shift, 8u);
}

fn next(cursor: Cursor) -> Cursor {
    if (cursor.mover + 1u == params.rows) {
        return Cursor(cursor.row + 1u, 0u);
    }
    return Cursor(cursor.row, cursor.mover + 1u);
}

// Positions of a group: fewer in the last one.
fn group_positions(group: u32) -> u32 {
    return min(GROUP_POSITIONS, params.positions - (group - params.origin) * GROUP_POSITIONS);
}

// The first word of a group.
fn words_of(group: u32) -> u32 {
    return (group - params.origin) * GROUP_WORDS;
}
