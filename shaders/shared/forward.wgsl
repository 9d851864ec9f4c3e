// What the stages for moves to lower layers have in common. A thread updates one word of `scores`, four positions with
// the same mover's row, with all moves of one class that this row has.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(3) var<storage, read> moves: array<u32>;
@group(0) @binding(4) var<storage, read> map: array<u32>;
@group(0) @binding(5) var<storage, read_write> scores: array<u32>;

struct Work {
    // The mover's rank.
    row: u32,
    // Its moves: entries from `first` up to, not including, `end`.
    first: u32,
    end: u32,
    // The rank of the other row of the word's first position.
    other: u32,
    // The word in `scores`.
    at: u32,
}

fn work_of(thread: u32) -> Work {
    let word = thread % params.words;
    let group = params.groups_at + 2u * (params.first_group + thread / params.words);
    let row = moves[group];
    return Work(
        row,
        params.entries_at + moves[group + 1u],
        params.entries_at + moves[group + 3u],
        4u * word,
        row * params.words + word - params.base,
    );
}

// The rank of an other row after the spill.
fn spilled(other: u32) -> u32 {
    if (params.map_at == NO_MAP) {
        return other;
    }
    return map[params.map_at + other];
}
