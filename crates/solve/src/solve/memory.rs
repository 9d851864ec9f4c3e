use kalah_base::system::available_memory;
use kalah_core::index::row_count;

use super::transposition::{most_bytes, rounded_bytes, table_bytes};

/// True if the system removes parts of a file from the page cache on request.
const RELEASES: bool = cfg!(target_os = "linux");

/// Part of the available memory left to other programs: one in this many.
const LEFT: u64 = 16;

/// Minimum share of the transposition table if the tables leave less: one part in this many of all memory.
const LEAST_TRANSPOSITIONS: u64 = 16;

/// Maximum share of a transposition table that suits the problem.
const MOST_BY_SIZE: u64 = 4;

/// Bytes of the program: code, stacks, buffers, and memory kept by the allocator.
const PROGRAM: u64 = 24 << 20;

/// Assumed available memory if the system does not report it.
const UNKNOWN_MEMORY: u64 = 4 << 30;

/// The memory of a search.
///
/// It limits the program, the transposition table, tables in the page cache, and copies of tables, all together. Tables
/// are copied as far as that pushes no others out of the page cache.
#[derive(Clone, Copy, Debug)]
pub struct SearchMemory {
    /// Bytes for everything. `None` leaves the page cache to the system, and copies nothing.
    total: Option<u64>,
    /// True if the total is what is available.
    available: bool,
    transpositions: Transpositions,
    /// True if other programs or threads read the tables from the page cache, or the tables cannot leave it.
    others_read: bool,
    /// True if the tables stay in the page cache, without copies.
    uncopied: bool,
}

/// Bytes of the transposition table.
#[derive(Clone, Copy, Debug)]
enum Transpositions {
    Exactly(u64),
    /// By the size of the problem, at most this.
    AtMost(u64),
    /// By the size of the problem, at most a quarter of the memory.
    BySize,
    /// The memory that the tables leave, as far as the board has use for it.
    Rest,
}

/// A search, as far as its memory depends on it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Problem {
    pub pits: usize,
    /// Maximum seeds in play.
    pub seeds: usize,
    /// The largest layer of the tables; 0 for none.
    pub reach: usize,
    /// Bytes of all files of tables.
    pub files: u64,
    /// Bytes of the largest frame.
    pub frame: u64,
    /// Bytes of the array of ranks of rows.
    pub ranks: u64,
}

impl Problem {
    /// Bytes of the ranks of rows for tables of `pits` pits a side up to the layer `reach`.
    pub(crate) fn rank_bytes(pits: usize, reach: usize) -> u64 {
        (0..reach).map(|seeds| 4 * row_count(pits, seeds) as u64).sum()
    }

    /// Bytes of everything but the transposition table and copies.
    fn fixed(&self) -> u64 {
        PROGRAM + self.ranks + self.files
    }
}

/// Settings of copying tables to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Copies {
    /// Bytes of tables that may be copied and also stay in the page cache.
    pub twice: u64,
    /// True if the other tables are moved: copied frame by frame, while each frame leaves the page cache.
    pub moved: bool,
}

impl Copies {
    pub(crate) const NONE: Copies = Copies { twice: 0, moved: false };
}

/// Division of the memory of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shares {
    /// Bytes of the transposition table, a power of two.
    pub transpositions: u64,
    pub copies: Copies,
}

impl SearchMemory {
    /// A search may take `total` bytes, of which the transposition table takes `transpositions`, rounded down to a
    /// power of two.
    ///
    /// By default, the total is what is available now, less a sixteenth for other programs. The transposition table
    /// gets what the tables leave of a given total, or a sixteenth if they leave less, but no more than the board has
    /// use for. Without a given total its size depends on the problem, at most a quarter.
    #[must_use]
    pub fn new(total: Option<u64>, transpositions: Option<u64>) -> SearchMemory {
        let by_default = if total.is_some() { Transpositions::Rest } else { Transpositions::BySize };
        SearchMemory {
            total: total.or_else(|| available_memory().map(|bytes| bytes - bytes / LEFT)),
            available: total.is_none(),
            transpositions: transpositions.map_or(by_default, Transpositions::Exactly),
            others_read: false,
            uncopied: false,
        }
    }

    /// One of several searches that read the same tables, which stay in the page cache: it may take `total` bytes, if
    /// they are limited, and its transposition table at most `transpositions`; for a small problem it has fewer.
    #[must_use]
    pub fn shared(total: Option<u64>, transpositions: u64) -> SearchMemory {
        let transpositions = Transpositions::AtMost(transpositions);
        SearchMemory { total, available: false, transpositions, others_read: true, uncopied: true }
    }

    /// No limit but that of the transposition table, whose size depends on the problem: at most a quarter of the
    /// available memory. The tables stay in the page cache.
    #[must_use]
    pub fn by_size() -> SearchMemory {
        let transpositions = Transpositions::BySize;
        SearchMemory { total: None, available: false, transpositions, others_read: false, uncopied: false }
    }

    /// The same memory, if `bytes` bytes of tables are in files in memory. The available memory does not include these,
    /// and they never leave it.
    #[must_use]
    pub fn with_tables_in_memory(self, bytes: u64) -> SearchMemory {
        let more = if self.available { bytes } else { 0 };
        let total = self.total.map(|total| total.saturating_add(more));
        SearchMemory { total, others_read: self.others_read || bytes > 0, ..self }
    }

    /// Bytes for everything, if they are limited.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        self.total
    }

    /// The same memory with `bytes` bytes of transposition table, rounded down to a power of two.
    pub(super) fn transpositions(self, bytes: u64) -> SearchMemory {
        SearchMemory { transpositions: Transpositions::Exactly(bytes), ..self }
    }

    /// The same memory with at most `bytes` bytes of transposition table; for a small problem it has fewer.
    pub(super) fn transpositions_up_to(self, bytes: u64) -> SearchMemory {
        SearchMemory { transpositions: Transpositions::AtMost(bytes), ..self }
    }

    /// The same memory, while others read the tables, too.
    pub(super) fn others_read_tables(self) -> SearchMemory {
        SearchMemory { others_read: true, ..self }
    }

    /// Divides the memory among the program, the tables, which are in the page cache or copied, and the
    /// transposition table.
    ///
    /// Copies never push other tables out of the page cache: a search that waits for the disk gains nothing
    /// from huge pages. If others read the tables, they are never moved either.
    pub(super) fn shares(&self, problem: &Problem) -> Shares {
        let &Problem { pits, seeds, reach, frame, .. } = problem;
        let fixed = problem.fixed();
        let rest = self.total.map_or(u64::MAX, |total| total.saturating_sub(fixed).max(total / LEAST_TRANSPOSITIONS));
        let by_size = |limit: u64| table_bytes(pits, seeds, reach, limit.min(rest));
        let transpositions = rounded_bytes(match self.transpositions {
            Transpositions::Exactly(bytes) => bytes,
            Transpositions::AtMost(bytes) => by_size(bytes),
            Transpositions::BySize => by_size(most_by_size(self.total.or_else(available_memory))),
            Transpositions::Rest => most_bytes(pits, seeds).min(rest),
        });
        let Some(total) = self.total.filter(|_| !self.uncopied) else {
            return Shares { transpositions, copies: Copies::NONE };
        };
        let spare = total.saturating_sub(fixed + transpositions);
        let moved = RELEASES && !self.others_read && frame > 0 && spare >= frame;
        let twice = if moved { spare - frame } else { spare };
        Shares { transpositions, copies: Copies { twice, moved } }
    }

    /// Returns true if the tables fit the memory together with the smallest transposition table.
    pub(super) fn fits(&self, problem: &Problem) -> bool {
        let Some(total) = self.total else { return true };
        let least = match self.transpositions {
            Transpositions::Exactly(bytes) => bytes,
            _ => total / LEAST_TRANSPOSITIONS,
        };
        problem.fixed().saturating_add(rounded_bytes(least)) <= total
    }
}

/// Maximum bytes of a transposition table that suits the problem, with `memory` bytes of memory, if they are known.
fn most_by_size(memory: Option<u64>) -> u64 {
    memory.unwrap_or(UNKNOWN_MEMORY) / MOST_BY_SIZE
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A search of Kalah(6,6), which has use for any transposition table.
    fn problem(files: u64, frame: u64, ranks: u64) -> Problem {
        Problem { pits: 6, seeds: 72, reach: 34, files, frame, ranks }
    }

    #[test]
    fn shares_stay_within_the_budget() {
        let mut random = fastrand::Rng::with_seed(5);
        let (mut moved, mut twice, mut neither) = (0, 0, 0);
        for _ in 0..10_000 {
            let budget = 1u64 << random.u32(26..38);
            let files = random.u64(..budget * 2);
            let tables = problem(files, files / random.u64(10..40), files / 1000);
            let wanted = 1u64 << random.u32(20..36);
            let memory = SearchMemory::new(Some(budget), None);
            let memory = if random.bool() { memory } else { memory.transpositions_up_to(wanted) };
            let Shares { transpositions, copies } = memory.shares(&tables);
            assert!(transpositions > 0 && transpositions <= budget);
            let used = PROGRAM + tables.ranks + files + transpositions;
            if memory.fits(&tables) {
                assert!(used <= budget, "{budget} {tables:?} {transpositions}");
            }
            // While a frame is moved it is in memory twice.
            let most = used + copies.twice + if copies.moved { tables.frame } else { 0 };
            assert!(most <= budget || copies == Copies::NONE, "{budget} {tables:?} {copies:?}");
            // With other readers there may be a few more copies, but no table leaves the page cache.
            let beside = memory.others_read_tables().shares(&tables);
            assert!(
                !beside.copies.moved && beside.copies.twice >= copies.twice && beside.transpositions == transpositions
            );
            assert!(
                used + beside.copies.twice <= budget || beside.copies == Copies::NONE,
                "{budget} {tables:?} {beside:?}"
            );
            moved += u32::from(copies.moved);
            twice += u32::from(copies.twice >= files);
            neither += u32::from(copies == Copies::NONE);
        }
        assert!(moved.min(twice).min(neither) > 100, "{moved} {twice} {neither}");
    }

    #[test]
    fn tables_to_34_seeds_fit_24_gigabytes() {
        // Kalah with 6 pits: sizes of the files, of the largest frame, and of the ranks.
        let tables = problem(20_186_000_000, 310_000_000, 13_000_000);
        for budget in [21 << 30, 22 << 30, 24_000_000_000] {
            let memory = SearchMemory::new(Some(budget), None);
            assert!(memory.fits(&tables));
            let Shares { transpositions, copies } = memory.shares(&tables);
            assert_eq!((transpositions, copies.moved), (2 << 30, RELEASES && budget > 21 << 30), "{budget}");
        }
        let fits = |total: u64, transpositions: u64| SearchMemory::new(Some(total), Some(transpositions)).fits(&tables);
        assert!(!fits(16 << 30, 1 << 30));
        // A transposition table of a set size counts with that size.
        assert!(fits(21 << 30, 2 << 30) && !fits(21 << 30, 4 << 30));
    }

    #[test]
    fn tables_in_memory_count_once_and_are_never_moved() {
        let tables = problem(20 << 30, 310_000_000, 13_000_000);
        let available = SearchMemory { available: true, ..SearchMemory::new(Some(16 << 30), None) };
        assert!(!available.fits(&tables));
        let memory = available.with_tables_in_memory(tables.files);
        assert!(memory.fits(&tables) && memory.total() == Some(36 << 30));
        let Shares { transpositions, copies } = memory.shares(&tables);
        assert!(!copies.moved && transpositions + copies.twice <= 16 << 30, "{copies:?}");
        // A given total includes them.
        let given = SearchMemory::new(Some(36 << 30), None).with_tables_in_memory(tables.files);
        assert_eq!((given.total(), given.shares(&tables)), (memory.total(), memory.shares(&tables)));
        assert!(
            SearchMemory::new(Some(36 << 30), None).with_tables_in_memory(0).shares(&tables).copies.moved || !RELEASES
        );
    }

    #[test]
    fn one_of_several_searches_stays_within_its_memory_and_copies_no_table() {
        let tables = problem(1 << 30, 10 << 20, 1 << 20);
        let shares = |total, transpositions| SearchMemory::shared(total, transpositions).shares(&tables);
        let of = |transpositions| Shares { transpositions, copies: Copies::NONE };
        assert_eq!(shares(None, 256 << 20), of(256 << 20));
        assert_eq!(shares(Some(4 << 30), 256 << 20), of(256 << 20));
        // The tables leave this, or the least share; then they do not fit.
        assert_eq!(shares(Some(1200 << 20), 256 << 20), of(128 << 20));
        assert_eq!(shares(Some(1 << 30), 256 << 20), of(64 << 20));
        let fits = |total| SearchMemory::shared(Some(total), 256 << 20).fits(&tables);
        assert!(fits(1200 << 20) && !fits(1 << 30));
    }

    #[test]
    fn a_total_limits_every_size_and_a_small_problem_gets_little() {
        let total = 8u64 << 30;
        let bytes = |memory: SearchMemory, seeds| {
            memory.shares(&Problem { pits: 6, seeds, reach: 24, ..Problem::default() }).transpositions
        };
        let all = SearchMemory::new(Some(total), None);
        let by_size = SearchMemory { total: Some(total), ..SearchMemory::by_size() };
        assert_eq!((bytes(all, 72), bytes(by_size, 72)), (total / 2, total / 4));
        assert_eq!((bytes(all, 48), bytes(by_size, 48)), (total / 2, 16 << 20));
        assert_eq!(bytes(by_size.transpositions_up_to(1 << 30), 72), 1 << 30);
        assert_eq!(bytes(by_size.transpositions(3 << 20), 72), 2 << 20);
        // A search does without knowing the memory.
        assert_eq!(most_by_size(None), most_by_size(Some(4 << 30)));
        assert!(most_by_size(None) >= 512 << 20);
        assert!(SearchMemory::by_size().fits(&problem(u64::MAX / 2, 0, 0)));
    }
}
