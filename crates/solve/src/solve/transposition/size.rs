use crate::solve::packed::BoardKeys;

/// Seeds above the tables for which [`table_bytes`] is [`BASE_MEMORY`].
const BASE_SEEDS: usize = 26;

/// Bytes that searches this far above the tables fill in part.
const BASE_MEMORY: u64 = 16 << 20;

/// Positions of a board per byte of transposition table that its searches may fill.
const POSITIONS_A_BYTE: u128 = 64;

/// Seeds in play up to which only the distance to the tables counts, and the number of further seeds that
/// doubles the transposition table. One opening of Kalah(6,6) takes 3 to 6 times the nodes of Kalah(6,5) at the
/// same distance (docs/measurements.md).
const MANY_SEEDS: (usize, usize) = (60, 6);

/// Bytes of transposition table for a search from `seeds` seeds on a board of `pits` pits a side, with tables
/// up to `table_seeds` (0 for none): at least 1 MiB and at most `limit`.
///
/// About ten nodes make one entry of 8 bytes. The size suffices for the rule set with the largest searches;
/// others leave most of it unused.
pub(crate) fn table_bytes(pits: usize, seeds: usize, table_seeds: usize, limit: u64) -> u64 {
    let above = seeds.saturating_sub(table_seeds.max(2));
    // Searches grow faster than this, but touching memory for the first time costs time too.
    let far = above.saturating_sub(BASE_SEEDS) / 2;
    // Without tables, most boards with this many seeds have more pits, and other searches.
    let large = if table_seeds == 0 { 0 } else { seeds.saturating_sub(MANY_SEEDS.0) / MANY_SEEDS.1 };
    // Close to the tables, the scores that end a search are close.
    let doublings = far + large.min(far);
    (BASE_MEMORY << doublings.min(30)).min(most_bytes(pits, seeds)).min(limit).max(1 << 20)
}

/// Maximum bytes of transposition table that a search on a board of `pits` pits a side with `seeds` seeds can
/// use.
pub(crate) fn most_bytes(pits: usize, seeds: usize) -> u64 {
    // Searches of small boards visit only few positions.
    let positions = BoardKeys::<u128>::new(pits, seeds).map_or(u128::MAX, |keys| keys.count());
    u64::try_from(positions / POSITIONS_A_BYTE).unwrap_or(u64::MAX).max(BASE_MEMORY)
}

/// Bytes that a transposition table takes if `bytes` are allowed: a power of two.
pub(crate) fn rounded_bytes(bytes: u64) -> u64 {
    1 << bytes.max(1).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_to_search_never_takes_fewer_bytes_and_never_more_than_allowed() {
        for pits in [1, 3, 6, 8] {
            for limit in [3 << 20, 5 << 30] {
                for seeds in 2..=100 {
                    let bytes = |seeds, tables| table_bytes(pits, seeds, tables, limit);
                    for tables in (0..=48).step_by(3) {
                        let own = bytes(seeds, tables);
                        assert!(own <= limit.max(1 << 20) && own <= most_bytes(pits, seeds), "{own}");
                        assert!(own <= bytes(seeds + 1, tables), "{pits} {seeds} {tables}");
                        assert!(tables < 2 || own >= bytes(seeds, tables + 1), "{pits} {seeds} {tables}");
                        assert!(rounded_bytes(own).is_power_of_two() && rounded_bytes(own) <= own);
                    }
                }
            }
        }
    }

    #[test]
    fn known_searches_get_what_they_fill_and_small_ones_little() {
        let mebibytes = |seeds, tables| rounded_bytes(table_bytes(6, seeds, tables, 5 << 30)) >> 20;
        // Kalah(6,6) under `standard` rules, tables to 33 seeds: 5 to 7 billion nodes; an opening of 70 seeds.
        assert_eq!((mebibytes(72, 33), mebibytes(70, 33)), (4096, 1024));
        assert_eq!((mebibytes(72, 36), mebibytes(72, 26)), (2048, 4096));
        // Kalah(6,4) and (6,5), which take seconds.
        assert_eq!([24, 28, 34].map(|tables| mebibytes(60, tables)), [512, 128, 16]);
        assert_eq!((mebibytes(48, 24), mebibytes(48, 0)), (16, 4096));
        assert_eq!(table_bytes(4, 40, 0, u64::MAX), BASE_MEMORY);
    }
}
