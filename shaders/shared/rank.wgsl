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

// The rank of the row whose first pit is at `first` of the ring.
fn rank(ring: ptr<function, array<u32, RING>>, first: u32) -> u32 {
    var seeds = 0u;
    var potential = 0u;
    for (var pit = 0u; pit < params.pits; pit++) {
        potential += seeds;
        seeds += (*ring)[first + pit];
    }
    var result = rows_below(seeds, potential);
    for (var pit = 0u; pit + 2u < params.pits; pit++) {
        let pits = params.pits - pit;
        result += row_count(pits, seeds, potential);
        seeds -= (*ring)[first + pit];
        potential -= (*ring)[first + pit] * (pits - 1u);
        result -= row_count(pits, seeds, potential);
    }
    return result;
}
