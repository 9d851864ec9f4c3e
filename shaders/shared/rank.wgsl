// The rank of a row (RowIndex::rank), from the terms of RowIndex::rank_terms.

@group(0) @binding(7) var<storage, read> ranks: array<u32>;

// Term of the rank when this number of pits is passed and these seeds and this potential are left.
fn rank_term(passed: u32, seeds: u32, potential: u32) -> u32 {
    return ranks[(passed * (params.max_seeds + 1u) + seeds) * params.stride + potential];
}

// Seeds in a pit of a row: two words, one byte per pit.
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
    var result = rank_term(0u, seeds, potential);
    for (var pit = 0u; pit + 2u < params.pits; pit++) {
        let held = pit_of(row, pit);
        seeds -= held;
        potential -= held * (params.pits - 1u - pit);
        result += rank_term(pit + 1u, seeds, potential);
    }
    return result;
}
