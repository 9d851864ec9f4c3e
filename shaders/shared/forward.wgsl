// Shared parts of the stages for moves to lower layers. A thread updates one word of `scores`, four
// positions with the same mover's row, with all moves of one class that this row has.
// (`forward_relay` divides its work differently, and shares only the bindings.)

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(3) var<storage, read> moves: array<u32>;
@group(0) @binding(4) var<storage, read> map: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read_write> scores: array<u32>;

struct Work {
    // Moves of the mover's row: entries from `first` up to, not including, `end`.
    first: u32,
    end: u32,
    // The word in the run: other rows from four times this on.
    word: u32,
    // The word in `scores`.
    at: u32,
}

// The work of a thread of a stage whose threads have the words of one group after the other.
fn work_of(thread: u32) -> Work {
    let number = thread / params.words;
    return work_at(number, thread - number * params.words);
}

// The work on a word of a group, by its number among those to process.
fn work_at(number: u32, word: u32) -> Work {
    let group = params.groups_at + 2u * (params.first_group + number);
    let row = moves[group];
    return Work(
        params.entries_at + moves[group + 1u],
        params.entries_at + moves[group + 3u],
        word,
        row * params.words + word - params.base,
    );
}

// Ranks of the other rows of a word after the spill. Beyond the last row its rank is repeated, in
// the map, too.
fn spilled(word: u32) -> vec4<u32> {
    if (params.map_at == NO_MAP) {
        return min(4u * word + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(params.others - 1u));
    }
    return map[params.map_at / 4u + word];
}
