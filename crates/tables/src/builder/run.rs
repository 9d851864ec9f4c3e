//! A running build: the state shared by tables and pieces of layers.

use std::borrow::BorrowMut;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Instant;

use kalah_base::file;
use kalah_base::parallel::small_thread;
use kalah_base::progress::Pulse;
use kalah_core::index::Frame;
use kalah_core::table::{ComingLayer, Table, TableError, TableKey, Tables};

use super::backend::Backend;
use super::computer::{ComputeError, Computer};
use super::event::{BuildError, BuildEvent};
use super::log::BuildRecord;
use super::writer::{Spare, Writing};
use crate::table::{Manifest, Stamps, TableWriter, remove_partial, remove_pieces};

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
    spare: Arc<Spare>,
    stamps: Stamps,
    pub pulse: &'a Pulse,
    pub on_event: &'a (dyn Fn(BuildEvent) + Sync),
}

impl<'a> Run<'a> {
    /// Starts with existing `tables`; layers up to `last` seeds will follow.
    pub(super) fn new(
        directory: &'a Path,
        backend: &'a Backend,
        tables: Tables,
        last: usize,
        pulse: &'a Pulse,
        on_event: &'a (dyn Fn(BuildEvent) + Sync),
    ) -> Run<'a> {
        let spare = Arc::new(Spare::new(backend, tables.key(last)));
        Run { directory, backend, tables, last, computer: None, spare, stamps: Stamps::of_user(), pulse, on_event }
    }

    /// Returns an error if the build of `key` was stopped.
    pub(super) fn check(&self, key: TableKey) -> Result<(), BuildError> {
        self.pulse.check().map_err(|_| BuildError::Stopped(key))
    }

    /// Compares a finished layer with its checksums, unless a process of this user has done so before. Wrong scores
    /// below would give wrong scores above, with valid checksums.
    pub(super) fn compare(&self, table: &Table) -> Result<(), BuildError> {
        (self.on_event)(BuildEvent::Compare(table.key()));
        self.stamps.compare(table.blocks(), &self.pulse.cancel, &|_| ())?;
        self.check(self.tables.key(self.last))
    }

    /// Computes frames of a layer from those below, and begins to write them.
    pub(super) fn compute<'scope, W: BorrowMut<TableWriter> + Send + 'scope>(
        &mut self,
        scope: &'scope Scope<'scope, '_>,
        frames: &[Frame],
        writer: W,
    ) -> Result<Writing<'scope, W>, ComputeError>
    where
        'a: 'scope,
    {
        if self.computer.is_none() {
            self.computer = Some(self.backend.computer(&self.tables, self.last)?);
        }
        let computer = &mut **self.computer.as_mut().expect("made above");
        Writing::compute(scope, &self.tables, self.on_event, &self.spare, writer, |output| {
            computer.compute_ahead(&self.tables, frames, self.pulse, output)
        })
    }

    /// Builds the table of a layer, or its missing frames. The last ones may still have to be written.
    pub(super) fn table_layer<'scope>(
        &mut self,
        scope: &'scope Scope<'scope, '_>,
        key: TableKey,
    ) -> Result<ComputedLayer<'scope>, BuildError>
    where
        'a: 'scope,
    {
        let start = Instant::now();
        let writer = TableWriter::open(self.directory, key)?;
        let missing: Vec<Frame> = writer.missing().collect();
        let positions = missing.iter().map(|frame| frame.positions()).sum();
        (self.on_event)(BuildEvent::Layer { key, positions, kept: writer.written() });
        if positions > 0 {
            // If the disk lost a part of this layer, frames computed from it cannot be trusted.
            remove_partial(self.directory, TableKey { seeds: key.seeds + 1, ..key })?;
        }
        let frames = self.compute(scope, &missing, writer).map_err(BuildError::stopped_at(key))?;
        Ok(ComputedLayer { record: BuildRecord::new(key, positions, self.backend.name()), start, frames })
    }
}

/// A layer whose frames are computed. The last ones may still have to be written.
pub(super) struct ComputedLayer<'scope> {
    record: BuildRecord,
    start: Instant,
    frames: Writing<'scope, TableWriter>,
}

impl ComputedLayer<'_> {
    /// Waits until all frames are written, and completes the file. Then it waits for the disk and gives the file its
    /// name. `coming` is set as soon as the table can be read.
    fn finish(self, directory: &Path, coming: &OnceLock<Option<Arc<Table>>>) -> Result<BuildRecord, BuildError> {
        let ComputedLayer { record, start, frames } = self;
        let key = record.key;
        let (mut writer, _) = frames.wait().map_err(BuildError::stopped_at(key))?;
        if Manifest::contradicts(key, &writer.digest()) {
            writer.discard()?;
            return Err(BuildError::Contradiction(key));
        }
        writer.complete()?;
        let record = record.written(start);
        // On other systems a mapped file cannot be renamed.
        if cfg!(unix) {
            let _ = coming.set(Some(Arc::new(writer.map()?)));
        }
        // Another process may have joined pieces meanwhile, and others may have mapped that
        // table. The unfinished file is a leftover then.
        if !key.path(directory).exists() {
            writer.rename()?;
        }
        clean(directory, key)?;
        if !cfg!(unix) {
            let _ = coming.set(Some(Arc::new(Table::open_key(directory, key)?)));
        }
        Ok(record)
    }
}

/// Writes the last frames of layers and gives them their names, one after the other, while the next
/// layer is computed.
///
/// A file gets its name only when it and all layers below are on the disk. If a layer does not get
/// its name, the layer above is discarded, because it was computed from frames that the disk has not
/// confirmed.
pub(super) struct Finishing<'scope, 'env> {
    pub scope: &'scope Scope<'scope, 'env>,
    directory: &'env Path,
    pulse: &'env Pulse,
    on_event: &'env (dyn Fn(BuildEvent) + Sync),
    running: Option<(TableKey, ScopedJoinHandle<'scope, Result<BuildRecord, BuildError>>)>,
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

    /// Begins to finish a layer, and returns its table to come. The previous one must be finished. If the layer will
    /// be read soon, it is also read into the page cache.
    pub(super) fn begin(&mut self, layer: ComputedLayer<'scope>, read_soon: bool) -> Result<ComingLayer, BuildError> {
        /// Ends the wait for a layer that has failed.
        struct Coming(ComingLayer);
        impl Drop for Coming {
            fn drop(&mut self) {
                let _ = self.0.set(None);
            }
        }
        assert!(self.running.is_none(), "one layer is finished at a time");
        let (directory, pulse, on_event) = (self.directory, self.pulse, self.on_event);
        let (key, table) = (layer.record.key, ComingLayer::default());
        let coming = Coming(Arc::clone(&table));
        let finish = move || {
            let record = layer.finish(directory, &coming.0)?;
            // The log is a convenience, so its errors do not fail a build.
            let _ = record.append(directory);
            on_event(BuildEvent::Done(&record));
            if read_soon && let Ok(file) = kalah_core::file::open(&key.path(directory)) {
                file::read_back(&file, &pulse.cancel);
            }
            Ok(record)
        };
        let spawned = small_thread("finisher").spawn_scoped(self.scope, finish);
        self.running = Some((key, spawned.map_err(TableError::io(Path::new("a thread to finish a layer")))?));
        Ok(table)
    }

    /// Waits until the layer has its name, if a layer is being finished.
    pub(super) fn wait(&mut self) -> Result<Option<BuildRecord>, BuildError> {
        let Some((key, running)) = self.running.take() else { return Ok(None) };
        let finished = running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        if finished.is_err() {
            remove_partial(self.directory, TableKey { seeds: key.seeds + 1, ..key })?;
        }
        finished.map(Some)
    }
}

/// Removes leftovers of other attempts at a finished layer.
pub(super) fn clean(directory: &Path, key: TableKey) -> Result<(), TableError> {
    remove_pieces(directory, key)?;
    remove_partial(directory, key)
}
