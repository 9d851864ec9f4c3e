use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use kalah_base::lock::Mutex;
use kalah_core::cancel::Cancel;
use kalah_core::clock::Instant;
use kalah_core::table::{Blocks, Damage, TableError};

use super::layers::Layers;

/// Blocks that a thread takes at a time.
const PART_BLOCKS: u64 = 64;

/// Number of parts that the system reads ahead while one is compared: 32 MiB.
const AHEAD_PARTS: usize = 8;

/// The tables that a search reads, and the progress of comparing them with their checksums.
///
/// A search does not compare the scores that it reads with checksums, which would be too slow. So its results
/// are used only once the tables are shown to be valid. Damage stays recorded even if the file is repaired
/// meanwhile, since results derived from it may remain.
pub(crate) struct Audit<'a> {
    layers: Layers<'a>,
    sound: AtomicBool,
    damaged: AtomicBool,
    damage: Mutex<Option<(PathBuf, Damage)>>,
}

impl<'a> Audit<'a> {
    /// An audit of these layers. They are compared here if they have at most `at_once` bytes. If `cancel` is
    /// cancelled, the rest is compared later.
    ///
    /// # Errors
    /// If a table is damaged.
    pub fn new(layers: Layers<'a>, at_once: u64, cancel: &Cancel) -> Result<Audit<'a>, TableError> {
        let audit =
            Audit { layers, sound: AtomicBool::new(false), damaged: AtomicBool::new(false), damage: Mutex::new(None) };
        if audit.files().map(Blocks::unchecked_bytes).sum::<u64>() <= at_once {
            audit.pass().work(&|| !cancel.is_cancelled());
        }
        audit.verdict()?;
        audit.update();
        Ok(audit)
    }

    fn files(&self) -> impl DoubleEndedIterator<Item = &'a Blocks> {
        // One on another machine is only looked up, and each lookup is checked.
        self.layers.files().filter(|file| file.is_resident() || !file.is_remote())
    }

    /// Returns true if everything that the search may read was compared with its checksums.
    #[inline]
    pub fn is_sound(&self) -> bool {
        self.sound.load(Ordering::Relaxed)
    }

    /// Returns true if damage was found.
    pub fn is_damaged(&self) -> bool {
        self.damaged.load(Ordering::Relaxed)
    }

    /// Returns an error if damage was found.
    ///
    /// # Errors
    /// The damage that was found.
    pub fn verdict(&self) -> Result<(), TableError> {
        let damage = self.damage.lock();
        match &*damage {
            Some((path, damage)) => Err(TableError::damaged(path, damage.clone())),
            None => Ok(()),
        }
    }

    /// Records that a table is damaged.
    ///
    /// # Panics
    /// With any other error, since looking up scores in open tables gives no other.
    pub fn fail(&self, error: TableError) {
        let (path, damage) = match error {
            TableError::Damaged { path, damage, .. } => (path, damage),
            TableError::Io { path, .. } | TableError::OutOfMemory { path, .. } => (path, Damage::Shrunk),
            error => unreachable!("{error}"),
        };
        self.damage.lock().get_or_insert((path, damage));
        self.damaged.store(true, Ordering::Relaxed);
    }

    /// Bytes of the tables, and bytes still to be compared.
    pub fn bytes(&self) -> (u64, u64) {
        let all = self.files().map(Blocks::file_bytes).sum();
        (all, self.files().map(Blocks::unchecked_bytes).sum())
    }

    /// Checks whether everything was compared. Threads that compare the rest together may each miss the last work of
    /// another, so this must be called again after they have ended.
    pub fn update(&self) {
        if !self.is_damaged() && self.files().all(Blocks::is_checked) {
            self.sound.store(true, Ordering::Relaxed);
        }
    }

    /// The parts still to be compared, for several threads.
    pub fn pass(&self) -> Pass<'_, 'a> {
        let mut parts = Vec::new();
        // The largest layers are read most.
        for file in self.files().rev().filter(|file| !file.is_checked()) {
            // In the order of the file, which disks read faster.
            let mut sections: Vec<_> = file.sections().iter().zip(1..).collect();
            sections.sort_unstable_by_key(|(section, _)| section.offset);
            for (section, mover) in sections {
                let blocks = section.blocks();
                let starts = (0..blocks).step_by(PART_BLOCKS as usize);
                parts.extend(starts.map(|start| Part { file, mover, blocks: start..blocks.min(start + PART_BLOCKS) }));
            }
        }
        Pass { audit: self, parts, next: AtomicUsize::new(0) }
    }

    /// Compares the rest on this thread, for at most `within`. Returns true if everything was compared.
    ///
    /// # Errors
    /// If damage is or was found.
    pub fn finish(&self, within: Duration) -> Result<bool, TableError> {
        if !self.is_sound() {
            let start = Instant::now();
            self.pass().work(&|| start.elapsed() < within);
        }
        self.verdict()?;
        Ok(self.is_sound())
    }
}

/// Some blocks of a frame.
struct Part<'a> {
    file: &'a Blocks,
    mover: usize,
    blocks: Range<u64>,
}

/// A pass through all blocks still to be compared.
pub(crate) struct Pass<'s, 'a> {
    audit: &'s Audit<'a>,
    parts: Vec<Part<'a>>,
    next: AtomicUsize,
}

impl Pass<'_, '_> {
    /// Compares parts that no other thread has taken, until none is left, damage is found, or `go_on` returns
    /// false. `go_on` is called before every block.
    pub fn work(&self, go_on: &dyn Fn() -> bool) {
        let go_on = || !self.audit.is_damaged() && go_on();
        loop {
            let next = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = self.parts.get(next) else { break };
            // The first one also requests the parts up to its own.
            let ahead = if next == 0 { 0 } else { next + AHEAD_PARTS }..=next + AHEAD_PARTS;
            for part in ahead.filter_map(|next| self.parts.get(next)) {
                part.file.read_ahead(part.mover, part.blocks.clone());
            }
            for block in part.blocks.clone().filter(|&block| !part.file.is_block_checked(part.mover, block)) {
                if !go_on() {
                    return;
                }
                if let Err(error) = part.file.check_block(part.mover, block) {
                    return self.audit.fail(error);
                }
            }
        }
        self.audit.update();
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::solve::{Checkpoint, SolveError, SolveEvent, Solver, SolverOptions};
    use kalah_base::file::StateError;
    use kalah_core::cancel::Cancel;
    use kalah_core::evaluation::{LANES, Network, Weights};
    use kalah_core::game::{Position, Rules};
    use kalah_core::table::{BoundTable, BoundTables, Cuts, Table, TableKey, Tables};
    use kalah_tables::table::BoundMaker;

    const RULES: Rules = Rules::EmptyCapture;
    const PITS: usize = 4;
    const REACH: usize = 10;

    fn tables() -> (tempfile::TempDir, Tables) {
        let directory = tempfile::tempdir().unwrap();
        kalah_tables::builder::build(directory.path(), RULES, PITS, REACH).unwrap();
        let tables = Tables::open(directory.path(), RULES, PITS, REACH).unwrap();
        (directory, tables)
    }

    /// The tables with a flipped bit in layer 9, in a frame that a search from 4x2 does not read first.
    fn damaged(sound: &Tables) -> (Tables, u64) {
        let mut tables = Tables::empty(Path::new("damaged"), RULES, PITS, REACH).unwrap();
        let mut offset = 0;
        for layer in sound.layers() {
            let mut bytes = layer.bytes().to_vec();
            if layer.key().seeds == 9 {
                let entry = layer.header().entries[7];
                offset = entry.offset;
                bytes[(entry.offset + entry.checksums_at()) as usize - 100] ^= 4;
            }
            let path = layer.key().path(Path::new("damaged"));
            tables.push(Arc::new(Table::from_bytes(path, bytes).unwrap())).unwrap();
        }
        (tables, offset)
    }

    fn options(tables: &Tables, threads: usize) -> SolverOptions<'_> {
        let options = SolverOptions::new(RULES, &start()).tables(Some(tables)).transpositions(1 << 20);
        let mut options = options.threads(threads);
        // Even small tables are compared while a search runs.
        options.at_once = 0;
        options
    }

    fn start() -> Position {
        "4x2".parse().unwrap()
    }

    fn assert_damage<T: std::fmt::Debug>(result: Result<T, SolveError>, at: u64) {
        match result {
            Err(SolveError::Table(TableError::Damaged { path, damage, .. })) => {
                let key = TableKey { rules: RULES, pits: PITS, seeds: 9 };
                assert_eq!(path, key.path(Path::new("damaged")));
                assert_eq!(damage, Damage::Part { part: kalah_core::table::TablePart::Block, offset: at });
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_search_ends_with_the_tables_compared() {
        let (_directory, tables) = tables();
        for threads in [1, 3] {
            let again = Tables::open(tables.directories(), RULES, PITS, REACH).unwrap();
            let solver = Solver::new(options(&again, threads)).unwrap();
            assert!(!again.layers().iter().all(|layer| layer.blocks().is_checked()), "there was nothing to test");
            let found = solver.solve(&start(), 0).unwrap();
            assert!(again.layers().iter().all(|layer| layer.blocks().is_checked()));
            // With tables that are already compared.
            tables.layers().iter().for_each(|layer| layer.check().unwrap());
            assert_eq!(found, Solver::new(options(&tables, threads)).unwrap().solve(&start(), 0).unwrap());
        }
    }

    #[test]
    fn nothing_is_reported_of_a_search_in_damaged_tables() {
        let (_directory, tables) = tables();
        for threads in [1, 2] {
            let (damaged, at) = damaged(&tables);
            let proved =
                |_: &Solver, event: SolveEvent| assert!(matches!(event, SolveEvent::Begin { .. }), "{event:?}");
            let solver = Solver::new(options(&damaged, threads)).unwrap().with_events(proved);
            let position = start();
            assert_damage(solver.test(&position, 9), at);
            // Nor of another position, nor later.
            assert_damage(solver.test(&position, 2), at);
            assert_damage(solver.solve(&position, 0), at);
            assert_damage(solver.at_least(&position, 0), at);
            assert_damage(solver.narrow(&position, 0, Duration::from_secs(5)), at);
            assert!(solver.proofs().is_empty());
            let bounds = solver.value_bounds(&position).unwrap();
            assert_eq!((bounds.lower < 0, bounds.upper > 0), (true, true), "{bounds:?}");
            assert_eq!(solver.known(&position).unwrap(), crate::solve::Bounds { lower: 0, upper: 16 });
            // The search is not saved, because a resumed search would rely on it.
            let directory = tempfile::tempdir().unwrap();
            let saved = Checkpoint::open(directory.path().join("search")).unwrap().save(&solver, &position);
            assert!(matches!(&saved, Err(StateError::Io { source, .. }) if source.to_string().contains("damaged")));
            assert!(!directory.path().join("search").exists());
        }
    }

    #[test]
    fn a_copy_of_damaged_tables_is_not_believed_either() {
        let (_directory, tables) = tables();
        let (damaged, at) = damaged(&tables);
        let (on, off) = (Cancel::new(), Cancel::new());
        on.cancel();
        match damaged.layer(9).unwrap().copied_frame(8, &off).map(drop) {
            Err(TableError::Damaged { damage, .. }) => {
                assert_eq!(damage, Damage::Part { part: kalah_core::table::TablePart::Block, offset: at })
            }
            other => panic!("{other:?}"),
        }
        let table = damaged.layer(8).unwrap();
        for frame in table.key().frames() {
            let mover = frame.mover;
            let copy = table.copied_frame(mover, &off).unwrap();
            assert!(table.blocks().is_frame_checked(mover));
            // The copy stays. The file can still be read after its pages were released.
            assert!(table.copied_frame(mover, &on).is_ok());
            table.blocks().release(mover);
            let scores = table.frame_unchecked(mover);
            let rows = |seeds| kalah_core::index::row_count(PITS, seeds) as u32;
            for (row, other) in (0..rows(mover)).flat_map(|row| (0..rows(frame.other)).map(move |other| (row, other))) {
                assert_eq!(copy.score(row, other), scores.score(row, other));
            }
        }
        assert!(table.blocks().is_checked());
        assert!(matches!(damaged.layer(7).unwrap().copied_frame(3, &on), Err(TableError::Stopped(_))));
    }

    #[test]
    fn nothing_is_reported_of_a_search_in_damaged_bound_tables() {
        let (directory, tables) = tables();
        let weights = Weights {
            inputs: vec![[0; LANES]; 2 * PITS * 16],
            bias: [0; LANES],
            floor: [0; LANES],
            outputs: [0; LANES],
            shift: 0,
        };
        // Its evaluations are half of the seeds in play.
        let network = Network::new(RULES, PITS, &weights).unwrap();
        let maker = BoundMaker::new(&network, Cuts::new(&[-32, 0, 32]).unwrap());
        for damaged in [false, true] {
            let mut offset = 0;
            let layers = (5..=REACH).map(|seeds| {
                let table = tables.layer(seeds).unwrap();
                let path = maker.write(table, directory.path(), &Default::default()).unwrap();
                let mut bytes = std::fs::read(&path).unwrap();
                if damaged && seeds == 8 {
                    offset = BoundTable::open(&path).unwrap().header().entries[4].offset;
                    bytes[offset as usize + 20] ^= 1;
                }
                Arc::new(BoundTable::from_bytes(path, bytes).unwrap())
            });
            let bounds = BoundTables::new(directory.path(), layers.collect()).unwrap().unwrap();
            for threads in [1, 3] {
                let solver = Solver::new(options(&tables, threads).bounds(Some(&bounds)).exact_up_to(4)).unwrap();
                let found = solver.solve(&start(), 0);
                if !damaged {
                    let exact = Solver::new(options(&tables, threads)).unwrap().solve(&start(), 0).unwrap();
                    let found = found.unwrap();
                    // There may be several lines of best play.
                    assert_eq!((found.score, found.value, found.best), (exact.score, exact.value, exact.best));
                    assert!(bounds.layers().iter().all(|layer| layer.blocks().is_checked()));
                    continue;
                }
                match found {
                    Err(SolveError::Table(TableError::Damaged { path, damage, .. })) => {
                        assert_eq!(path, TableKey { rules: RULES, pits: PITS, seeds: 8 }.bounds_path(directory.path()));
                        assert_eq!(damage, Damage::Part { part: kalah_core::table::TablePart::Block, offset });
                    }
                    other => panic!("{other:?}"),
                }
                assert!(solver.proofs().is_empty());
            }
        }
    }
}
