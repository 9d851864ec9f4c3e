use crate::solve::packed::Keys;

/// Seeds above the tables for which [`table_bytes`] is [`BASE_MEMORY`].
const BASE_SEEDS: usize = 26;

/// Bytes that searches this far above the tables fill partly.
const BASE_MEMORY: u64 = 16 << 20;

/// Positions of a board per byte of transposition table that its searches may fill.
const POSITIONS_A_BYTE: u128 = 64;

/// Bytes of transposition table for a search from `seeds` seeds on a board of `pits` pits a side, with tables up to
/// `table_seeds`: at most `limit`, but at least 1 MiB.
pub(crate) fn table_bytes(pits: usize, seeds: usize, table_seeds: usize, limit: u64) -> u64 {
    let above = seeds.saturating_sub(table_seeds.max(2));
    // Searches grow faster than this, but touching memory for the first time costs time, too.
    let doublings = above.saturating_sub(BASE_SEEDS) / 2;
    (BASE_MEMORY << doublings.min(20)).min(most_bytes(pits, seeds)).min(limit).max(1 << 20)
}

/// The most bytes of transposition table of which a search on a board of `pits` pits a side with `seeds` seeds may have use.
pub(crate) fn most_bytes(pits: usize, seeds: usize) -> u64 {
    // Searches of small boards visit only few positions.
    let positions = Keys::<u128>::new(pits, seeds).map_or(u128::MAX, |keys| keys.count());
    u64::try_from(positions / POSITIONS_A_BYTE).unwrap_or(u64::MAX).max(BASE_MEMORY)
}

/// Bytes that a transposition table takes for which so many are allowed: a power of two.
pub(crate) fn real_bytes(bytes: u64) -> u64 {
    1 << bytes.max(1).ilog2()
}
