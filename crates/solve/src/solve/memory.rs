use kalah_base::system::available_memory;
use kalah_core::index::row_count;

/// Part of the available memory left to other programs: one in this many.
const LEFT: u64 = 16;

/// Share of the transposition table, as one part in this many of all memory: at most, unless its size is given, and at
/// least, if the tables leave less.
const TRANSPOSITIONS: (u64, u64) = (4, 16);

/// Bytes of the program: code, stacks, buffers, and memory kept by the allocator.
const PROGRAM: u64 = 24 << 20;

/// Maximum bytes of the transposition table by default, if the memory is not limited.
const UNLIMITED_TRANSPOSITIONS: u64 = 1 << 30;

/// Minimum of all memory with which tables are made in memory; they take up to a quarter of it.
const MAKING: u64 = 256 << 20;

/// Share of the claims of a proof that is checked without searches, as one part in this many of all memory. One more
/// effort halves their number.
const CLAIMS: u64 = 2;

/// The memory of a search.
///
/// It limits the program, the transposition table, tables in the page cache, and copies of tables, all together. Tables
/// are copied as far as that pushes no others out of the page cache. By default there is no limit, nothing is copied,
/// and the transposition table takes at most 1 GiB, less for a small problem.
#[derive(Clone, Copy, Debug)]
pub struct SearchMemory {
    /// Bytes for everything. `None` leaves the page cache to the system.
    pub(super) total: Option<u64>,
    /// Maximum bytes of the transposition table.
    pub(super) transpositions: Option<u64>,
    /// True if the transposition table of a small problem is smaller.
    pub(super) by_size: bool,
    /// True if tables are copied.
    pub(super) copied: bool,
    /// True if other threads read the tables from the page cache.
    pub(super) others_read: bool,
}

/// Memory that a search takes if it may.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needs {
    /// Bytes for everything but the transposition table and copies of tables: the program, the tables, and the ranks of
    /// their rows.
    pub fixed: u64,
    /// Bytes of the transposition table.
    filled: u64,
}

/// Settings of copying tables to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Copies {
    /// Bytes of tables that may be copied and also stay in the page cache.
    pub twice: u64,
    /// True if the other tables are moved: copied frame by frame, while each frame leaves the page cache.
    pub moved: bool,
}

impl Default for SearchMemory {
    fn default() -> SearchMemory {
        SearchMemory { total: None, transpositions: None, by_size: true, copied: false, others_read: false }
    }
}

impl SearchMemory {
    /// Default maximum bytes of the transposition table of one of [several searches](SearchMemory::shared).
    pub const SHARED_TRANSPOSITIONS: u64 = 256 << 20;

    /// A search may take `total` bytes, by default what is available now, less a sixteenth for other programs. The
    /// transposition table gets at most `transpositions` of them, by default a quarter, and no more than the tables
    /// leave, but at least a sixteenth. If neither is given, that of a small problem is smaller.
    #[must_use]
    pub fn new(total: Option<u64>, transpositions: Option<u64>) -> SearchMemory {
        let by_size = total.is_none() && transpositions.is_none();
        let total = total.or_else(|| available_memory().map(|bytes| bytes - bytes / LEFT));
        SearchMemory { total, transpositions, by_size, copied: true, others_read: false }
    }

    /// One of several searches that read the same tables, which stay in the page cache: it may take `total` bytes, if
    /// they are limited, and its transposition table at most `transpositions`, less for a small problem.
    #[must_use]
    pub fn shared(total: Option<u64>, transpositions: u64) -> SearchMemory {
        SearchMemory { total, transpositions: Some(transpositions), ..SearchMemory::default() }
    }

    /// Bytes for everything, if they are limited.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        self.total
    }

    /// Returns true if there is room to [make tables](super::SearchTables::make) for the search.
    pub fn has_room_to_make(&self) -> bool {
        self.total.is_none_or(|total| total >= MAKING)
    }

    /// Bytes of `total` for the search of a proof, beside its claims. These are checked with this `effort`.
    pub fn beside_claims(total: u64, effort: u32) -> u64 {
        total - total / (CLAIMS << effort)
    }

    /// Bytes of the transposition table, a power of two.
    pub(super) fn transposition_bytes(&self, needs: Needs) -> u64 {
        let (most, least) = TRANSPOSITIONS;
        let by_default = || self.total.map_or(UNLIMITED_TRANSPOSITIONS, |total| total / most);
        let filled = if self.by_size { needs.filled } else { u64::MAX };
        let rest = self.total.map_or(u64::MAX, |total| total.saturating_sub(needs.fixed).max(total / least));
        1 << self.transpositions.unwrap_or_else(by_default).min(filled).min(rest).max(1).ilog2()
    }

    /// Bytes for the search itself, without tables.
    pub(super) fn own_bytes(&self, needs: Needs) -> u64 {
        PROGRAM + self.transposition_bytes(needs)
    }

    /// Returns true if all but copies fits.
    pub(super) fn fits(&self, needs: Needs) -> bool {
        self.total.is_none_or(|total| needs.fixed.saturating_add(self.transposition_bytes(needs)) <= total)
    }

    /// Copies of tables whose largest frame has `frame` bytes.
    ///
    /// Copies never push other tables out of the page cache: a search that waits for the disk gains nothing from huge
    /// pages. If others read the tables, they are never moved either, nor if the system does not release a part of a
    /// file from the page cache on request.
    pub(super) fn copies(&self, needs: Needs, frame: u64) -> Copies {
        let Some(total) = self.total.filter(|_| self.copied) else { return Copies::default() };
        let spare = total.saturating_sub(needs.fixed.saturating_add(self.transposition_bytes(needs)));
        let moved = cfg!(target_os = "linux") && !self.others_read && frame > 0 && spare >= frame;
        Copies { twice: if moved { spare - frame } else { spare }, moved }
    }
}

/// Bytes of transposition table that searches from `seeds` seeds fill, with tables of `pits` pits a side up to layer
/// `reach`, 0 for none (docs/measurements.md). About ten nodes make one entry of 8 bytes.
fn filled_bytes(pits: usize, seeds: usize, reach: usize) -> u64 {
    // So far above the tables, searches fill this in part; two more seeds double it.
    const BASE: (usize, u64) = (26, 16 << 20);
    // Up to the first number, only the distance to the tables counts; each second number beyond doubles the table.
    const MANY_SEEDS: (usize, usize) = (60, 6);
    const POSITIONS_A_BYTE: u128 = 64;
    let far = seeds.saturating_sub(reach.max(2)).saturating_sub(BASE.0) / 2;
    let many = if reach == 0 { 0 } else { seeds.saturating_sub(MANY_SEEDS.0) / MANY_SEEDS.1 };
    // Searches of small boards visit only few positions.
    let more = |fewer: u128, number: usize| Some(fewer.checked_mul((seeds + number) as u128)? / number as u128);
    let positions = (1..=2 * pits).try_fold(1, more).unwrap_or(u128::MAX);
    let most = u64::try_from(positions / POSITIONS_A_BYTE).unwrap_or(u64::MAX).max(BASE.1);
    (BASE.1 << (far + many.min(far)).min(30)).min(most)
}

impl Needs {
    /// The needs of a search from `seeds` seeds with `files` bytes of tables of `pits` pits a side up to the layer
    /// `reach`, 0 for none.
    pub(super) fn new(pits: usize, seeds: usize, reach: usize, files: u64) -> Needs {
        let ranks: u64 = (0..reach).map(|seeds| 4 * row_count(pits, seeds) as u64).sum();
        Needs { fixed: PROGRAM + ranks + files, filled: filled_bytes(pits, seeds, reach) }
    }

    /// The same with more bytes of tables.
    pub(super) fn and_files(self, bytes: u64) -> Needs {
        Needs { fixed: self.fixed + bytes, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_searches_get_what_they_fill_and_small_ones_little() {
        let mebibytes = |seeds, reach| 1u64 << filled_bytes(6, seeds, reach).ilog2() >> 20;
        // Kalah(6,6) under `standard` rules, tables to 33 seeds: 5 to 7 billion nodes; an opening of 70 seeds.
        assert_eq!((mebibytes(72, 33), mebibytes(70, 33)), (4096, 1024));
        // Kalah(6,4) and (6,5), which take seconds.
        assert_eq!([24, 28, 34].map(|reach| mebibytes(60, reach)), [512, 128, 16]);
        assert_eq!((mebibytes(48, 24), filled_bytes(4, 40, 0)), (16, 16 << 20));
    }

    /// Otherwise a search would leave out tables for the sake of entries that it never makes.
    #[test]
    fn small_searches_use_what_their_transposition_table_leaves() {
        let by_default = SearchMemory { by_size: true, ..SearchMemory::new(Some(1 << 30), None) };
        let needs = |files| Needs::new(6, 24, 20, files);
        assert_eq!(by_default.transposition_bytes(needs(0)), 16 << 20);
        let files = (1 << 30) - (16 << 20) - needs(0).fixed;
        assert!(by_default.fits(needs(files)) && !by_default.fits(needs(files + 1)));
    }

    #[test]
    fn shares_stay_within_the_memory() {
        let mut random = fastrand::Rng::with_seed(5);
        let (mut moved, mut twice, mut neither) = (0, 0, 0);
        for _ in 0..10_000 {
            let total = 1u64 << random.u32(26..38);
            let files = random.u64(..total * 2);
            let (needs, frame) = (Needs::new(6, 72, 20, files), files / random.u64(10..40));
            let wanted = random.bool().then(|| 1u64 << random.u32(20..36));
            let memory = SearchMemory::new(Some(total), wanted);
            let (transpositions, copies) = (memory.transposition_bytes(needs), memory.copies(needs, frame));
            assert!(
                transpositions <= wanted.unwrap_or(total / 4)
                    && transpositions >= wanted.unwrap_or(total).min(total / 16) / 2
            );
            // While a frame is moved it is in memory twice.
            let most = needs.fixed + transpositions + copies.twice + if copies.moved { frame } else { 0 };
            assert!(
                if memory.fits(needs) { most <= total } else { copies == Copies::default() },
                "{total} {files} {copies:?}"
            );
            // With other readers there may be a few more copies, but no table leaves the page cache.
            let beside = SearchMemory { others_read: true, ..memory }.copies(needs, frame);
            assert!(!beside.moved && beside.twice == copies.twice + if copies.moved { frame } else { 0 });
            assert_eq!(SearchMemory::shared(Some(total), 1 << 30).copies(needs, frame), Copies::default());
            moved += u32::from(copies.moved);
            twice += u32::from(copies.twice >= files);
            neither += u32::from(copies == Copies::default());
        }
        assert!(moved.min(twice).min(neither) > 100, "{moved} {twice} {neither}");
    }
}
