// Computes the residuals of a group from scores: those of the positions from an index on, biased so that they are
// positive.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> scores: array<u32>;
// Profile, then groups, as in a table file.
@group(0) @binding(2) var<storage, read_write> head: array<u32>;

// A place in the scores, run by run.
struct Cursor {
    row: u32,
    mover: u32,
}

fn cursor_at(index: u32) -> Cursor {
    return Cursor(index / params.rows, index % params.rows);
}

fn residual(cursor: Cursor) -> u32 {
    let shift = 8u * (cursor.mover % 4u);
    let word = cursor.row * params.words + cursor.mover / 4u - params.base;
    let score = extractBits(scores[word], shift, 8u);
    return score + BASE_BIAS - extractBits(head[cursor.mover / 4u], shift, 8u);
}

fn next(cursor: Cursor) -> Cursor {
    if (cursor.mover + 1u == params.rows) {
        return Cursor(cursor.row + 1u, 0u);
    }
    return Cursor(cursor.row, cursor.mover + 1u);
}

// Positions of a group: fewer in the last one.
fn group_positions(group: u32) -> u32 {
    return min(GROUP_POSITIONS, params.positions - group * GROUP_POSITIONS);
}
