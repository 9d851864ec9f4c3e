use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{channel, sync_channel};
use std::time::Instant;

use super::BuildRecord;
use super::cpu::{Evaluator, Pulse, Workspace, compute_pair};
use crate::game::Rules;
use crate::index::Frame;
use crate::isa::Isa;
use crate::table::{
    DirectoryLock, LockError, PackedFrame, Table, TableError, TableKey, TableWriter, Tables, table_path,
};

/// Why a build ended early. Finished frames are kept in every case.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Another process builds here.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A table cannot be read or written.
    #[error(transparent)]
    Table(#[from] TableError),
    /// It was told to stop.
    #[error("stopped while building {0}; finished frames are kept, the same command goes on from there")]
    Stopped(TableKey),
}

/// What a build tells while it runs.
#[derive(Debug)]
pub enum Event<'a> {
    /// A layer begins.
    Layer {
        /// The layer.
        key: TableKey,
        /// Positions that are still to be computed.
        positions: u64,
        /// Frames kept from an earlier run.
        kept: usize,
    },
    /// A pair of frames begins: the one with fewer seeds in the mover's row.
    Pair(Frame),
    /// A layer is done.
    Done(&'a BuildRecord),
}

/// What a build did.
#[derive(Debug, Default)]
pub struct BuildReport {
    /// Layers that were there already.
    pub kept: usize,
    /// Layers built, or finished.
    pub built: Vec<BuildRecord>,
}

/// Builds the tables of one rule set and board in a directory.
///
/// Layers and frames that are there are kept. The files depend on rules, pits and seeds alone.
pub struct Builder<'a> {
    /// The directory.
    pub directory: &'a Path,
    /// The rule set.
    pub rules: Rules,
    /// Pits a side.
    pub pits: usize,
    /// Build the layers from 2 to this many seeds.
    pub seeds: usize,
    /// The instruction set.
    pub isa: Isa,
    /// Refuse to build any layer but the last.
    pub only_last: bool,
}

impl Builder<'_> {
    /// Builds, on the threads of the current pool.
    ///
    /// # Errors
    /// When the directory is in use, a table there is damaged (all are checked) or foreign, something cannot be written, or
    /// `pulse` says stop.
    ///
    /// # Panics
    /// When no table has so many pits or seeds ([`crate::index::MAX_TABLE_PITS`], [`crate::index::MAX_TABLE_SEEDS`]).
    pub fn run(&self, pulse: &Pulse, on_event: &(dyn Fn(Event) + Sync)) -> Result<BuildReport, BuildError> {
        let _lock = DirectoryLock::take(self.directory)?;
        let mut tables = Tables::open(self.directory, self.rules, self.pits, self.seeds)?;
        let evaluator = Evaluator::new(self.isa, self.rules, Arc::clone(tables.rows()));
        let mut build = Build { isa: self.isa, evaluator, workspace: Workspace::default(), pulse, on_event };
        // Inside the pool: there the many small parallel steps begin without waking a thread.
        rayon::scope(|_| self.run_locked(&mut tables, &mut build))
    }

    fn run_locked(&self, tables: &mut Tables, build: &mut Build) -> Result<BuildReport, BuildError> {
        let mut report = BuildReport { kept: tables.layers().len(), built: Vec::new() };
        // Scores that are wrong below would be wrong above, under sound checksums.
        for table in tables.layers() {
            if build.pulse.is_stopped() {
                return Err(BuildError::Stopped(tables.key(self.seeds)));
            }
            table.check_blocks()?;
        }
        if tables.max_seeds().is_none_or(|max| max < self.seeds) {
            let memory = |source| TableError::io(Path::new("memory for the frames"))(source);
            build.workspace.reserve(self.pits, self.seeds).map_err(memory)?;
        }
        for seeds in tables.layers().len() + 2..=self.seeds {
            let key = tables.key(seeds);
            let path = table_path(self.directory, key);
            let kept = path.exists();
            if kept {
                report.kept += 1;
            } else if self.only_last && seeds < self.seeds {
                return Err(tables.require(seeds).err().expect("the file is not there").into());
            } else {
                let record = build.layer(self.directory, tables, key)?;
                (build.on_event)(Event::Done(&record));
                // The log is a convenience; a build does not fail for it.
                let _ = record.append(self.directory);
                report.built.push(record);
            }
            let table = Table::open(&path)?;
            if kept {
                table.check_blocks()?;
            }
            tables.push(Arc::new(table))?;
        }
        Ok(report)
    }
}

/// A build under way: what stays the same from layer to layer.
struct Build<'a> {
    isa: Isa,
    evaluator: Evaluator,
    workspace: Workspace,
    pulse: &'a Pulse,
    on_event: &'a (dyn Fn(Event) + Sync),
}

impl Build<'_> {
    /// Builds one layer, or what is missing of it, from those below in `tables`.
    fn layer(&mut self, directory: &Path, tables: &Tables, key: TableKey) -> Result<BuildRecord, BuildError> {
        let start = Instant::now();
        let writer = TableWriter::open(directory, key)?;
        let missing: Vec<Frame> = writer.missing().collect();
        let positions = missing.iter().map(|frame| frame.positions()).sum();
        (self.on_event)(Event::Layer { key, positions, kept: writer.written() });
        match self.write_frames(writer, tables, &missing)? {
            Some(writer) => writer.finish()?,
            None => return Err(BuildError::Stopped(key)),
        };
        Ok(BuildRecord {
            rules: key.rules.name().to_owned(),
            pits: key.pits,
            seeds: key.seeds,
            positions,
            seconds: start.elapsed().as_secs_f64(),
            threads: rayon::current_num_threads(),
            isa: self.isa.name().to_owned(),
        })
    }

    /// Computes and packs the missing frames, pair by pair, while another thread writes those before. `None` when
    /// stopped.
    fn write_frames(
        &mut self,
        mut writer: TableWriter,
        tables: &Tables,
        missing: &[Frame],
    ) -> Result<Option<TableWriter>, TableError> {
        // Without room in the channel, at most one packed frame waits for the one being written.
        let (sender, receiver) = sync_channel::<PackedFrame>(0);
        // Memory of written frames comes back for the next ones.
        let (give_back, given_back) = channel::<Vec<u8>>();
        std::thread::scope(|scope| {
            let writing = scope.spawn(move || -> Result<TableWriter, TableError> {
                for packed in receiver {
                    writer.write(&packed)?;
                    // The other end is gone when all is packed.
                    let _ = give_back.send(packed.into_buffer());
                }
                Ok(writer)
            });
            let completed = self.compute_frames(tables, missing, |frame, scores, isa| {
                let buffer = given_back.try_recv().unwrap_or_default();
                // A writer that failed has hung up; its error is told below.
                sender.send(PackedFrame::pack_in(isa, frame, scores, buffer)).is_ok()
            });
            drop(sender);
            let writer = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            Ok(completed?.then_some(writer))
        })
    }

    /// Computes the missing frames, pair by pair, and hands each with its scores to `take`. Whether all were computed and
    /// taken.
    fn compute_frames(
        &mut self,
        tables: &Tables,
        missing: &[Frame],
        take: impl Fn(Frame, &[u8], Isa) -> bool,
    ) -> Result<bool, TableError> {
        let mut frames = missing.iter().copied().peekable();
        while let Some(frame) = frames.next() {
            let (small, large) = (frame.mover.min(frame.other), frame.mover.max(frame.other));
            (self.on_event)(Event::Pair(frame));
            let scores = compute_pair(&self.evaluator, tables, small, large, &mut self.workspace, self.pulse)?;
            let Some(scores) = scores else {
                return Ok(false);
            };
            // Of a pair that an earlier run left half written only the second frame is missing.
            let mirrored = frames.next_if(|next| *next == frame.mirrored());
            for frame in [Some(frame), mirrored].into_iter().flatten() {
                let scores = if frame.mover == small { scores.small_moves } else { scores.large_moves };
                if !take(frame, scores, self.isa) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// Builds the tables of all layers from 2 to `seeds` in `directory`, on the threads of the current pool: a [`Builder`]
/// with nothing special.
///
/// # Errors
/// As [`Builder::run`].
///
/// # Panics
/// As [`Builder::run`].
pub fn build(directory: &Path, rules: Rules, pits: usize, seeds: usize) -> Result<BuildReport, BuildError> {
    let builder = Builder { directory, rules, pits, seeds, isa: Isa::detect(), only_last: false };
    builder.run(&Pulse::default(), &|_| {})
}

impl BuildReport {
    /// Positions computed.
    pub fn positions(&self) -> u64 {
        self.built.iter().map(|record| record.positions).sum()
    }
}
