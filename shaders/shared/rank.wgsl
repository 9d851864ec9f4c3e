// The rank of a row (RowIndex::rank); `ranks` holds the counts of rows by pits, seeds and potential, and the levels.

@group(0) @binding(7) var<storage, read> ranks: array<u32>;

// Rows of `pits` pits with these seeds and this potential.
fn row_count(pits: u32, seeds: u32, potential: u32) -> u32 {
    return ranks[((pits - 1u) * (params.max_seeds + 1u) + seeds) * params.stride + potential];
}

// Rows with these seeds and a potential below this one.
fn rows_below(seeds: u32, potential: u32) -> u32 {
    return ranks[params.levels_at + seeds * (params.stride + 1u) + potential];
}

// What a pit of a row holds: two words, one byte per pit.
fn pit_of(row: vec2<u32>, pit: u32) -> u32 {
    return extractBits(select(row.x, row.y, pit >= 4u), 8u * (pit % 4u), 8u);
}

// The rank of a row with that many seeds.
fn rank(row: vec2<u32>, row_seeds: u32) -> u32 {
    var potential = 0u;
    for (var pit = 0u; pit + 1u < params.pits; pit++) {
        potential += pit_of(row, pit) * (params.pits - 1u - pit);
    }
    var seeds = row_seeds;
    var result = rows_below(seeds, potential);
    for (var pit = 0u; pit + 2u < params.pits; pit++) {
        let pits = params.pits - pit;
        let held = pit_of(row, pit);
        result += row_count(pits, seeds, potential);
        seeds -= held;
        potential -= held * (pits - 1u);
        result -= row_count(pits, seeds, potential);
    }
    return result;
}
