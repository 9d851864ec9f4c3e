use crate::solve::packed::Keys;

/// Seeds above the tables for which [`table_bytes`] is [`BASE_MEMORY`].
const BASE_SEEDS: usize = 26;

/// Bytes that searches that far above the tables fill in part.
const BASE_MEMORY: u64 = 16 << 20;

/// Positions of a board for each byte that its searches may fill.
const POSITIONS_A_BYTE: u128 = 64;

/// Bytes of a transposition table that serve a search from `seeds` seeds on a board of `pits` pits a side, with tables to
/// `table_seeds`: `limit` at most, but a MiB at least.
pub(crate) fn table_bytes(pits: usize, seeds: usize, table_seeds: usize, limit: u64) -> u64 {
    let above = seeds.saturating_sub(table_seeds.max(2));
    // Searches grow faster than this; but memory that is touched for the first time costs time too.
    let doublings = above.saturating_sub(BASE_SEEDS) / 2;
    // Searches of small boards meet few of the positions there are.
    let positions = Keys::<u128>::new(pits, seeds).map_or(u128::MAX, |keys| keys.count());
    let most = u64::try_from(positions / POSITIONS_A_BYTE).unwrap_or(u64::MAX).max(BASE_MEMORY);
    (BASE_MEMORY << doublings.min(20)).min(most).min(limit).max(1 << 20)
}
