/// The most pits a side a table can have.
pub const MAX_TABLE_PITS: usize = 8;

/// The most seeds in play a table can have.
pub const MAX_TABLE_SEEDS: usize = 48;

/// The binomial coefficient C(n, k), for results below 2^64.
fn binomial(n: u64, k: u64) -> u64 {
    // A product of i consecutive numbers is divisible by i!, so every division is exact.
    (1..=k).fold(1u128, |product, i| product * u128::from(n - k + i) / u128::from(i)) as u64
}

/// Rows of `pits` pits that hold exactly `seeds` seeds: C(seeds + pits - 1, pits - 1).
///
/// `pits` is 1 to [`MAX_TABLE_PITS`], `seeds` at most [`MAX_TABLE_SEEDS`]; then the count is below 2^28.
pub fn row_count(pits: usize, seeds: usize) -> usize {
    assert!((1..=MAX_TABLE_PITS).contains(&pits) && seeds <= MAX_TABLE_SEEDS);
    binomial((seeds + pits - 1) as u64, pits as u64 - 1) as usize
}

/// Positions of a layer: `seeds` in play, both rows non-empty. C(N+2m-1, 2m-1) - 2 C(N+m-1, m-1).
pub fn layer_positions(pits: usize, seeds: usize) -> u64 {
    (1..seeds).map(|mover| row_count(pits, mover) as u64 * row_count(pits, seeds - mover) as u64).sum()
}

/// Positions of all layers from 2 to `seeds` seeds.
pub fn cumulative_positions(pits: usize, seeds: usize) -> u64 {
    (2..=seeds).map(|seeds| layer_positions(pits, seeds)).sum()
}
