//! A running build: the state shared by tables and pieces of layers.

use std::path::Path;
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Instant;

use kalah_base::file;
use kalah_base::parallel::small_thread;
use kalah_base::progress::Pulse;
use kalah_core::index::Frame;
use kalah_core::table::{PairKey, Table, TableError, TableKey, Tables};

use super::backend::Backend;
use super::computer::{ComputeError, Computer};
use super::event::{BuildError, BuildEvent};
use super::log::BuildRecord;
use super::writer::{Spare, write_frames};
use crate::table::{
    CompleteTable, LayerFiles, Manifest, Piece, TableWriter, remove_partial, remove_piece, remove_pieces,
};

pub(super) struct Run<'a> {
    pub directory: &'a Path,
    backend: &'a Backend,
    /// The layers below the one being built.
    pub tables: Tables,
    /// Seeds of the largest layer to be computed. The computer allocates memory for it.
    pub last: usize,
    /// Created for the first missing layer.
    computer: Option<Box<dyn Computer>>,
    /// Kept from layer to layer.
    spare: Spare,
    pub pulse: &'a Pulse,
    pub on_event: &'a (dyn Fn(BuildEvent) + Sync),
}

impl<'a> Run<'a> {
    /// Starts with existing `tables`; layers up to `last` seeds will follow.
    pub(super) fn new(
        directory: &'a Path,
        backend: &'a Backend,
        (tables, last): (Tables, usize),
        pulse: &'a Pulse,
        on_event: &'a (dyn Fn(BuildEvent) + Sync),
    ) -> Run<'a> {
        let spare = Spare::new(backend, tables.key(last));
        Run { directory, backend, tables, last, computer: None, spare, pulse, on_event }
    }

    /// Returns an error if the build of `key` was stopped.
    ///
    /// # Errors
    /// [`BuildError::Stopped`] if it was.
    pub(super) fn check(&self, key: TableKey) -> Result<(), BuildError> {
        self.pulse.check().map_err(|_| BuildError::Stopped(key))
    }

    /// Computes frames of a layer from those below, and writes them.
    pub(super) fn compute(&mut self, frames: &[Frame], writer: &mut TableWriter) -> Result<(), ComputeError> {
        if self.computer.is_none() {
            self.computer = Some(self.backend.computer(&self.tables, self.last)?);
        }
        let computer = &mut **self.computer.as_mut().expect("made above");
        write_frames(computer, frames, &self.tables, self.pulse, self.on_event, &self.spare, writer)?;
        Ok(())
    }

    /// Builds the table of a layer, or its missing frames.
    pub(super) fn table_layer(&mut self, key: TableKey) -> Result<(CompleteTable, BuildRecord), BuildError> {
        let start = Instant::now();
        let mut writer = TableWriter::open(self.directory, key)?;
        let mut pieces = self.pieces(key)?;
        let missing: Vec<Frame> = writer.missing().filter(|frame| !is_in(&pieces, frame)).collect();
        let positions = missing.iter().map(|frame| frame.positions()).sum();
        (self.on_event)(BuildEvent::Layer { key, positions, kept: key.frames().count() - missing.len() });
        if positions > 0 {
            // If the disk lost a part of this layer, frames computed from it cannot be trusted.
            remove_partial(self.directory, TableKey { seeds: key.seeds + 1, ..key })?;
        }
        let mut computed = 0;
        while let Some(next) = writer.missing().next() {
            if let Some(at) = pieces.iter().position(|piece| piece.holds(next)) {
                if let Err(error) = writer.copy(&mut pieces[at], next) {
                    self.remove_damaged(pieces.remove(at).pair(), error)?;
                }
                continue;
            }
            let frames: Vec<Frame> = writer.missing().take_while(|frame| !is_in(&pieces, frame)).collect();
            self.compute(&frames, &mut writer).map_err(BuildError::stopped_at(key))?;
            computed += frames.iter().map(|frame| frame.positions()).sum::<u64>();
        }
        if Manifest::contradicts(key, &writer.digest()) {
            writer.discard()?;
            remove_pieces(self.directory, key)?;
            let kept = computed < key.frames().map(|frame| frame.positions()).sum();
            return Err(BuildError::Contradiction { key, kept });
        }
        let complete = writer.complete()?;
        Ok((complete, BuildRecord::new(key, computed, start, self.backend.name())))
    }

    /// Opens the pieces of a layer left by other processes.
    fn pieces(&self, key: TableKey) -> Result<Vec<Piece>, TableError> {
        let mut pieces = Vec::new();
        for pair in LayerFiles::read(self.directory, key)?.pieces {
            match Piece::open(self.directory, pair) {
                Ok(piece) => pieces.push(piece),
                Err(error) => self.remove_damaged(pair, error)?,
            }
        }
        Ok(pieces)
    }

    /// Removes a damaged piece. An unreadable piece was removed by another process, or is computed
    /// again anyway.
    fn remove_damaged(&self, pair: PairKey, error: TableError) -> Result<(), TableError> {
        if error.is_damage() {
            (self.on_event)(BuildEvent::Damaged(&error));
            remove_piece(self.directory, pair)?;
        }
        Ok(())
    }
}

fn is_in(pieces: &[Piece], frame: &Frame) -> bool {
    pieces.iter().any(|piece| piece.holds(*frame))
}

/// Waits for the disk and gives complete layers their names, one after the other, while the next
/// layer is computed.
///
/// A file gets its name only when it and all layers below are on the disk. If a layer does not get
/// its name, the layer above is discarded, because it was computed from pages that the disk has not
/// confirmed.
pub(super) struct Finishing<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    directory: &'env Path,
    pulse: &'env Pulse,
    on_event: &'env (dyn Fn(BuildEvent) + Sync),
    running: Option<(TableKey, ScopedJoinHandle<'scope, Result<(), TableError>>)>,
}

impl<'scope, 'env> Finishing<'scope, 'env> {
    /// Starts with nothing to finish.
    pub(super) fn new(
        scope: &'scope Scope<'scope, 'env>,
        directory: &'env Path,
        pulse: &'env Pulse,
        on_event: &'env (dyn Fn(BuildEvent) + Sync),
    ) -> Finishing<'scope, 'env> {
        Finishing { scope, directory, pulse, on_event, running: None }
    }

    /// Opens a layer and begins to finish it. The previous one must be finished. If the layer will
    /// be read soon, it is also read into the page cache.
    ///
    /// # Errors
    /// When the table cannot be mapped or no thread can be started.
    pub(super) fn begin(
        &mut self,
        complete: CompleteTable,
        key: TableKey,
        record: BuildRecord,
        read_soon: bool,
    ) -> Result<Table, BuildError> {
        assert!(self.running.is_none(), "one layer is finished at a time");
        // On other systems a mapped file cannot be renamed.
        let table = if cfg!(unix) { Some(complete.open()?) } else { None };
        let (directory, pulse, on_event) = (self.directory, self.pulse, self.on_event);
        let finish = move || {
            // Another process may have joined pieces meanwhile, and others may have mapped that
            // table. The unfinished file is a leftover then.
            if !key.path(directory).exists() {
                complete.finish()?;
            }
            clean(directory, key)?;
            // The log is a convenience, so its errors do not fail a build.
            let _ = record.append(directory);
            on_event(BuildEvent::Done(&record));
            if read_soon && let Ok(file) = file::open(&key.path(directory)) {
                file::read_back(&file, &pulse.cancel);
            }
            Ok(())
        };
        let spawned = small_thread("finisher").spawn_scoped(self.scope, finish);
        self.running = Some((key, spawned.map_err(TableError::io(Path::new("a thread to finish a layer")))?));
        match table {
            Some(table) => Ok(table),
            None => {
                self.wait()?;
                Ok(Table::open_key(self.directory, key)?)
            }
        }
    }

    /// Waits until the layer has its name, if a layer is being finished.
    ///
    /// # Errors
    /// When that fails.
    pub(super) fn wait(&mut self) -> Result<(), BuildError> {
        let Some((key, running)) = self.running.take() else { return Ok(()) };
        let finished = running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        finished.or_else(|error| {
            remove_partial(self.directory, TableKey { seeds: key.seeds + 1, ..key })?;
            Err(error.into())
        })
    }
}

/// Removes leftovers of other attempts at a finished layer.
pub(super) fn clean(directory: &Path, key: TableKey) -> Result<(), TableError> {
    remove_pieces(directory, key)?;
    remove_partial(directory, key)
}
