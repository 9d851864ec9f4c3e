/// Maximum pits a side of a table.
pub const MAX_TABLE_PITS: usize = 8;

/// Maximum seeds in play of a table.
pub const MAX_TABLE_SEEDS: usize = 48;

/// The binomial coefficient C(n, k), for results below 2^64.
fn binomial(n: u64, k: u64) -> u64 {
    // A product of i consecutive numbers is divisible by i!, so every division is exact.
    (1..=k).fold(1u128, |product, i| product * u128::from(n - k + i) / u128::from(i)) as u64
}

/// Number of rows with `pits` pits and exactly `seeds` seeds: C(seeds + pits - 1, pits - 1).
///
/// For `pits` from 1 to [`MAX_TABLE_PITS`] and `seeds` up to [`MAX_TABLE_SEEDS`] it is below 2^28. Tables
/// have no other rows, so for other pits or seeds it is 0.
pub fn row_count(pits: usize, seeds: usize) -> usize {
    if !(1..=MAX_TABLE_PITS).contains(&pits) || seeds > MAX_TABLE_SEEDS {
        return 0;
    }
    binomial((seeds + pits - 1) as u64, pits as u64 - 1) as usize
}

/// Number of positions in a layer: `seeds` in play, both rows non-empty. C(N+2m-1, 2m-1) - 2
/// C(N+m-1, m-1); 0 for layers that tables cannot have.
pub fn layer_positions(pits: usize, seeds: usize) -> u64 {
    if seeds > MAX_TABLE_SEEDS {
        return 0;
    }
    (1..seeds).map(|mover| row_count(pits, mover) as u64 * row_count(pits, seeds - mover) as u64).sum()
}
