use super::transposition::rounded_bytes;

/// True if the system removes parts of a file from the page cache on request.
const RELEASES: bool = cfg!(target_os = "linux");

/// Minimum share of the transposition table if the tables leave less: one part in this many of all memory.
const LEAST_TRANSPOSITIONS: u64 = 16;

/// Bytes of the program: code, stacks, buffers, and memory kept by the allocator.
const PROGRAM: u64 = 24 << 20;

/// The tables of a search, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TableBytes {
    /// All their files.
    pub files: u64,
    /// The largest frame.
    pub frame: u64,
    /// The array of ranks of rows.
    pub ranks: u64,
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
    pub const NONE: Copies = Copies { twice: 0, moved: false };
}

/// Division of the memory of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shares {
    /// Bytes of the transposition table.
    pub transpositions: u64,
    pub copies: Copies,
}

impl Shares {
    /// Divides `budget` bytes among the program, the tables, which are in the page cache or copied, and the
    /// transposition table. `wanted` gets the maximum size of the transposition table and returns its size.
    ///
    /// Copies never push other tables out of the page cache: a search that waits for the disk gains nothing
    /// from huge pages. With `others_read`, tables are never moved either, since others read them from the page
    /// cache.
    pub fn new(budget: u64, tables: TableBytes, others_read: bool, wanted: impl FnOnce(u64) -> u64) -> Shares {
        let fixed = PROGRAM + tables.ranks + tables.files;
        let most = budget.saturating_sub(fixed).max(Shares::least_transpositions(budget));
        let transpositions = rounded_bytes(wanted(most));
        let spare = budget.saturating_sub(fixed + transpositions);
        let moved = RELEASES && !others_read && tables.frame > 0 && spare >= tables.frame;
        let twice = if moved { spare - tables.frame } else { spare };
        Shares { transpositions, copies: Copies { twice, moved } }
    }

    /// Minimum bytes of the transposition table if its size is not set.
    pub fn least_transpositions(budget: u64) -> u64 {
        budget / LEAST_TRANSPOSITIONS
    }

    /// Returns true if these tables fit `budget` bytes together with `transpositions` bytes of transposition
    /// table.
    pub fn fit(budget: u64, tables: TableBytes, transpositions: u64) -> bool {
        let fixed = PROGRAM + tables.ranks + tables.files;
        fixed.saturating_add(rounded_bytes(transpositions)) <= budget
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_stay_within_the_budget() {
        let mut random = fastrand::Rng::with_seed(5);
        let (mut moved, mut twice, mut neither) = (0, 0, 0);
        for _ in 0..10_000 {
            let budget = 1u64 << random.u32(26..38);
            let files = random.u64(..budget * 2);
            let tables = TableBytes { files, frame: files / random.u64(10..40), ranks: files / 1000 };
            let wanted = 1u64 << random.u32(20..36);
            let Shares { transpositions, copies } = Shares::new(budget, tables, false, |most| wanted.min(most));
            assert!(transpositions <= wanted && transpositions > 0);
            let used = PROGRAM + tables.ranks + files + transpositions;
            if Shares::fit(budget, tables, Shares::least_transpositions(budget)) {
                assert!(used <= budget, "{budget} {tables:?} {transpositions}");
            }
            // While a frame is moved it is in memory twice.
            let most = used + copies.twice + if copies.moved { tables.frame } else { 0 };
            assert!(most <= budget || copies == Copies::NONE, "{budget} {tables:?} {copies:?}");
            // With other readers there may be a few more copies, but no table leaves the page cache.
            let beside = Shares::new(budget, tables, true, |most| wanted.min(most));
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
        let tables = TableBytes { files: 20_186_000_000, frame: 310_000_000, ranks: 13_000_000 };
        for budget in [21 << 30, 22 << 30, 24_000_000_000] {
            assert!(Shares::fit(budget, tables, Shares::least_transpositions(budget)));
            let Shares { transpositions, copies } = Shares::new(budget, tables, false, |most| most.min(1 << 34));
            assert_eq!((transpositions, copies.moved), (2 << 30, RELEASES && budget > 21 << 30), "{budget}");
        }
        assert!(!Shares::fit(16 << 30, tables, 1 << 30));
        // A transposition table of a set size counts with that size.
        assert!(Shares::fit(21 << 30, tables, 2 << 30) && !Shares::fit(21 << 30, tables, 4 << 30));
    }
}
