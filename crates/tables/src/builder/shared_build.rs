//! Computing pairs of frames one by one, while other processes do the same in one directory.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kalah_core::index::Frame;
use parking_lot::Mutex;

use super::backend::Backend;
use super::computer::{ComputeError, Computer, Output};
use super::error::BuildError;
use super::event::Event;
use crate::file::create_directory;
use crate::progress::Pulse;
use crate::table::{
    FileState, Joined, LayerFiles, Leases, PackedFrame, PairKey, Piece, PieceWriter, Stamps, Table, TableError,
    TableKey, Tables, check_in_parallel, join_pieces, remove_pieces, remove_temporary,
};

/// How long a lease of another process must not change for that process to be presumed dead, if nothing else is said.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often a process that waits for others checks their progress: initially, and in the long run.
const LOOKS: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(1)];

/// Computes pairs of frames of one rule set and board in a directory that it may share with other processes.
///
/// Each pair is written to a [`Piece`]; the process that finds the pieces of a layer complete joins them. No lock is
/// needed: two processes that do the same work produce the same bytes.
pub struct PairBuilder<'a> {
    directory: &'a Path,
    backend: &'a Backend,
    /// The largest layer that will be computed; the computer allocates memory for it.
    last: usize,
    tables: Tables,
    computer: Option<Box<dyn Computer>>,
    leases: Leases,
    stamps: Stamps,
    pulse: &'a Pulse,
    on_event: &'a (dyn Fn(Event) + Sync),
}

/// The result of [`PairBuilder::run_pair`].
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairReport {
    /// Whether the pair was computed; otherwise its piece or its layer existed already.
    pub computed: bool,
    /// Whether its layer is finished now.
    pub finished: bool,
}

/// What one process did in a build shared with others.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShareReport {
    /// Pairs that it computed.
    pub pairs: usize,
    /// Positions of these.
    pub positions: u64,
    /// Layers whose pieces it joined.
    pub joined: usize,
}

impl<'a> PairBuilder<'a> {
    /// A builder of pairs of the layers up to `last` in `directory`.
    ///
    /// # Panics
    /// When there are more pits or seeds than tables have ([`kalah_core::index::MAX_TABLE_PITS`],
    /// [`kalah_core::index::MAX_TABLE_SEEDS`]).
    pub fn new(
        directory: &'a Path,
        last: TableKey,
        backend: &'a Backend,
        pulse: &'a Pulse,
        on_event: &'a (dyn Fn(Event) + Sync),
    ) -> PairBuilder<'a> {
        // Tables are added one by one, as layers are finished; the ranks of rows serve all of them.
        let tables = Tables::empty(directory, last.rules, last.pits, last.seeds);
        let leases = Leases::new(PATIENCE);
        let stamps = Stamps::of_machine();
        PairBuilder { directory, backend, last: last.seeds, tables, computer: None, leases, stamps, pulse, on_event }
    }

    /// The same, but processes whose leases do not change for `patience`, at least a few seconds, are presumed dead; otherwise
    /// half a minute is waited for them.
    #[must_use]
    pub fn patience(self, patience: Duration) -> PairBuilder<'a> {
        PairBuilder { leases: Leases::new(patience), ..self }
    }

    /// Computes one pair, whose layer has at most as many seeds as the builder was made for.
    ///
    /// Nothing is computed if its layer or a valid piece exists. If all pieces of the layer exist then, this joins
    /// them, or waits for the process that does.
    ///
    /// # Errors
    /// When a layer below is missing and its pieces are not complete (the error names it), a table is damaged, reading
    /// or writing fails, or the pulse was stopped.
    pub fn run_pair(&mut self, pair: PairKey) -> Result<PairReport, BuildError> {
        let backend = self.backend;
        backend.in_pool(|| {
            if LayerFiles::read(self.directory, pair.layer)?.finished {
                remove_pieces(self.directory, pair.layer)?;
                return Ok(PairReport { computed: false, finished: true });
            }
            self.reach(pair.layer.seeds)?;
            let computed = self.make(pair)?;
            Ok(PairReport { computed, finished: self.finish_layer(pair.layer)? })
        })
    }

    /// Builds the layers up to the last, together with all other processes that do the same in the directory.
    ///
    /// In each layer it computes the largest pair that no other process has a lease on, then the next; at the end it waits
    /// for the others, and takes over the pairs of processes that seem dead.
    ///
    /// # Errors
    /// When a table is damaged, reading or writing fails, or the pulse was stopped.
    pub fn run_shared(&mut self) -> Result<ShareReport, BuildError> {
        create_directory(self.directory).map_err(TableError::io(self.directory))?;
        let backend = self.backend;
        backend.in_pool(|| {
            let mut report = ShareReport::default();
            for seeds in 2..=self.last {
                self.share_layer(seeds, &mut report)?;
                self.take_in(seeds)?;
            }
            Ok(report)
        })
    }

    /// Works on one layer until it is finished.
    fn share_layer(&mut self, seeds: usize, report: &mut ShareReport) -> Result<(), BuildError> {
        let key = self.tables.key(seeds);
        let mut look = LOOKS[0];
        loop {
            let files = LayerFiles::read(self.directory, key)?;
            if files.finished {
                return Ok(());
            }
            if files.missing.is_empty() {
                report.joined += usize::from(self.join(key)?);
                continue;
            }
            // The largest pair first, so that the last ones are small.
            let mut missing = files.missing;
            missing.sort_by_key(|pair| std::cmp::Reverse(pair.positions()));
            let mut taken = None;
            for pair in missing {
                if let Some(lease) = self.leases.pair(self.directory, pair)? {
                    taken = Some((pair, lease));
                    break;
                }
            }
            match taken {
                Some((pair, _lease)) => {
                    // Its piece may have appeared between the listing and the lease.
                    if self.make(pair)? {
                        report.pairs += 1;
                        report.positions += pair.positions();
                    }
                    look = LOOKS[0];
                }
                None => {
                    self.pulse.check().map_err(|_| BuildError::Stopped(key))?;
                    std::thread::sleep(look);
                    look = (look * 2).min(LOOKS[1]);
                }
            }
        }
    }

    /// Opens the tables of all layers below `seeds`; layers whose pieces are complete are joined first.
    fn reach(&mut self, seeds: usize) -> Result<(), BuildError> {
        for below in self.tables.layers().len() + 2..seeds {
            if !self.finish_layer(self.tables.key(below))? {
                self.tables.require(below)?;
            }
            self.take_in(below)?;
        }
        Ok(())
    }

    /// Opens and checks the finished table of `seeds` seeds, from which pairs are computed then.
    fn take_in(&mut self, seeds: usize) -> Result<(), BuildError> {
        self.pulse.check().map_err(|_| BuildError::Stopped(self.tables.key(self.last)))?;
        let key = self.tables.key(seeds);
        let state = FileState::of(&key.path(self.directory));
        let table = Table::open_key(self.directory, key)?;
        // Wrong scores below would give wrong scores above, with valid checksums. One process of a machine compares them for all: by
        // the number of its pairs, a layer would be read hundreds of times.
        if !state.as_ref().is_some_and(|state| self.stamps.has(&table, state)) {
            check_in_parallel(&table)?;
            if let Some(state) = &state {
                self.stamps.put(&table, state);
            }
        }
        // The process that joined it may have been killed before it cleaned up.
        remove_pieces(self.directory, table.key())?;
        Ok(self.tables.push(Arc::new(table))?)
    }

    /// Computes a pair unless its piece or layer exists. Returns whether it was computed.
    fn make(&mut self, pair: PairKey) -> Result<bool, BuildError> {
        let files = LayerFiles::read(self.directory, pair.layer)?;
        if files.finished {
            return Ok(false);
        }
        if files.pieces.contains(&pair) {
            match Piece::open(self.directory, pair).and_then(|mut piece| piece.check()) {
                Ok(()) => {
                    remove_temporary(self.directory, pair)?;
                    return Ok(false);
                }
                Err(error) if error.is_damage() => (self.on_event)(Event::Damaged(&error)),
                // Removed meanwhile.
                Err(_) => {}
            }
        }
        let start = Instant::now();
        match self.compute(pair) {
            // Another process was faster, and cleaned up.
            Err(BuildError::Table(TableError::Io { .. })) if self.is_made(pair) => return Ok(false),
            computed => computed?,
        }
        (self.on_event)(Event::Piece { pair, seconds: start.elapsed().as_secs_f64() });
        if LayerFiles::read(self.directory, pair.layer)?.finished {
            remove_pieces(self.directory, pair.layer)?;
        } else {
            remove_temporary(self.directory, pair)?;
        }
        Ok(true)
    }

    /// Whether the piece of a pair, or its layer, exists.
    fn is_made(&self, pair: PairKey) -> bool {
        LayerFiles::read(self.directory, pair.layer).is_ok_and(|files| {
            files.finished || (files.pieces.contains(&pair) && Piece::open(self.directory, pair).is_ok())
        })
    }

    /// Computes a pair and writes its piece. All layers below must be open.
    fn compute(&mut self, pair: PairKey) -> Result<(), BuildError> {
        let computer = match &mut self.computer {
            Some(computer) => computer,
            none => none.insert(self.backend.computer(&self.tables, self.last)?),
        };
        let frames: Vec<Frame> = pair.frames().collect();
        let writer = PieceWriter::new(self.directory, pair)?;
        let output = ToPiece { writer: Mutex::new(writer), on_event: self.on_event };
        match computer.compute(&self.tables, &frames, self.pulse, &output) {
            Err(ComputeError::Stopped(_)) => return Err(BuildError::PairStopped(pair)),
            computed => computed?,
        }
        output.writer.into_inner().finish()?;
        Ok(())
    }

    /// Finishes a layer if all its pieces exist. Returns whether it is finished.
    fn finish_layer(&mut self, key: TableKey) -> Result<bool, BuildError> {
        loop {
            let files = LayerFiles::read(self.directory, key)?;
            if files.finished {
                return Ok(true);
            }
            if !files.missing.is_empty() {
                return Ok(false);
            }
            self.join(key)?;
        }
    }

    /// Joins the pieces of a layer, or waits a moment if another process seems to do it. Returns whether it joined
    /// them.
    fn join(&mut self, key: TableKey) -> Result<bool, BuildError> {
        self.pulse.check().map_err(|_| BuildError::Stopped(key))?;
        let Some(_lease) = self.leases.join(self.directory, key)? else {
            std::thread::sleep(LOOKS[0] * 5);
            return Ok(false);
        };
        match join_pieces(self.directory, key)? {
            Joined::Done => {
                (self.on_event)(Event::Joined(key));
                remove_pieces(self.directory, key)?;
                return Ok(true);
            }
            Joined::Already => remove_pieces(self.directory, key)?,
            Joined::Incomplete => {}
            Joined::Damaged(damaged, error) => {
                (self.on_event)(Event::Damaged(&error));
                self.make(damaged)?;
            }
        }
        Ok(false)
    }
}

impl fmt::Debug for PairBuilder<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let (key, backend) = (self.tables.key(self.last), self.backend.name());
        formatter.debug_struct("PairBuilder").field("last", &key).field("backend", &backend).finish_non_exhaustive()
    }
}

/// Writes the frames of a pair to its piece.
struct ToPiece<'a> {
    writer: Mutex<PieceWriter>,
    on_event: &'a (dyn Fn(Event) + Sync),
}

impl Output for ToPiece<'_> {
    fn pair(&self, frame: Frame) {
        (self.on_event)(Event::Pair(frame));
    }

    fn buffer(&self) -> Vec<u8> {
        Vec::new()
    }

    fn take(&self, packed: PackedFrame) -> Result<(), ComputeError> {
        Ok(self.writer.lock().write(&packed)?)
    }
}
