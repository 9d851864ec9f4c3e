use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kalah_base::progress::Pulse;
use kalah_base::system::available_memory;
use kalah_core::game::Rules;
use kalah_core::index::layer_positions;
use kalah_core::isa::Isa;
use kalah_core::table::{Table, TableError, TableKey, Tables};

use super::backend::Backend;
use super::event::{BuildError, BuildEvent, BuildReport};
use super::plan::packed_bytes;
use super::run::{Finishing, Run, clean};
use super::shared_layers::SharedLayers;
use crate::table::DirectoryLock;

/// Builds the layers of one rule set and board in a directory, alone or together with other
/// processes.
///
/// Existing layers and frames are kept. The files depend only on rules, pits and seeds.
#[derive(Clone, Debug)]
pub struct Builder<'a> {
    directory: &'a Path,
    last: TableKey,
    backend: Backend,
    /// In a build shared with other processes, the time after which an unchanged lease is ignored.
    shared: Option<Duration>,
}

impl<'a> Builder<'a> {
    /// Makes a builder of the layers from 2 seeds up to that of `last`, on the CPU.
    pub fn new(directory: &'a (impl AsRef<Path> + ?Sized), last: TableKey) -> Builder<'a> {
        let directory = directory.as_ref();
        let backend = Backend::Cpu(Isa::detect());
        Builder { directory, last, backend, shared: None }
    }

    /// Sets the backend that computes the layers.
    #[must_use]
    pub fn backend(self, backend: Backend) -> Builder<'a> {
        Builder { backend, ..self }
    }

    /// Builds together with all other processes that do the same in the directory. No lock is
    /// needed: two processes that do the same work produce the same bytes.
    ///
    /// In each layer a process repeatedly takes the largest pair of frames without a lease,
    /// computes it and writes a [`Piece`](crate::table::Piece). At the end it waits for the others.
    /// It takes over the pairs of processes whose leases do not change for `patience`, at least a
    /// few seconds. The process that finds the pieces of a layer complete joins them.
    #[must_use]
    pub fn shared(self, patience: Duration) -> Builder<'a> {
        Builder { shared: Some(patience), ..self }
    }

    /// Builds, on the threads of the current pool.
    ///
    /// # Errors
    /// - When layers are missing and the directory is in use, or the device cannot compute them.
    /// - When a table is damaged or foreign.
    /// - When a file cannot be read or written.
    /// - When `pulse` was stopped.
    /// - When tables cannot have as many pits or seeds ([`kalah_core::index::MAX_TABLE_PITS`],
    ///   [`kalah_core::index::MAX_TABLE_SEEDS`]).
    pub fn run(&self, pulse: &Pulse, on_event: &(dyn Fn(BuildEvent) + Sync)) -> Result<BuildReport, BuildError> {
        let TableKey { pits, seeds, .. } = self.last;
        TableError::unless_possible(pits, seeds)?;
        let is_missing = |seeds| !TableKey { seeds, ..self.last }.path(self.directory).exists();
        if (2..=seeds).any(is_missing) {
            self.backend.require_layer(pits, seeds).map_err(BuildError::Device)?;
        }
        let start = Instant::now();
        let report = match self.shared {
            None => self.run_locked(pulse, on_event),
            Some(patience) => {
                let run = self.no_layer(pulse, on_event)?;
                self.backend.in_pool(|| SharedLayers::new(run, patience).build())
            }
        };
        Ok(report?.since(start))
    }

    /// Returns a run without layers.
    fn no_layer<'r>(
        &'r self,
        pulse: &'r Pulse,
        on_event: &'r (dyn Fn(BuildEvent) + Sync),
    ) -> Result<Run<'r>, TableError> {
        let TableKey { rules, pits, seeds } = self.last;
        // Tables are added one by one, as layers are finished. The ranks of rows serve all of them.
        let tables = Tables::empty(self.directory, rules, pits, seeds)?;
        Ok(Run::new(self.directory, &self.backend, tables, seeds, pulse, on_event))
    }

    /// Builds alone. If nothing is missing, nothing is written, so the directory may be in use by
    /// others, or read-only.
    fn run_locked(&self, pulse: &Pulse, on_event: &(dyn Fn(BuildEvent) + Sync)) -> Result<BuildReport, BuildError> {
        let TableKey { rules, pits, seeds: last } = self.last;
        let open = || Tables::open(self.directory, rules, pits, last);
        let found = open()?;
        let complete = found.layers().len() + 1 == last;
        let lock = match DirectoryLock::take(self.directory) {
            Ok(lock) => Some(lock),
            Err(_) if complete => None,
            Err(error) => return Err(error.into()),
        };
        let tables = if complete { found } else { open()? };
        let mut run = Run::new(self.directory, &self.backend, tables, last, pulse, on_event);
        for table in run.tables.layers() {
            run.compare(table)?;
        }
        let mut report = BuildReport { kept: run.tables.layers().len(), ..BuildReport::new(self.last) };
        if lock.is_none() {
            return Ok(report);
        }
        self.backend.in_pool(|| {
            std::thread::scope(|scope| {
                let mut finishing = Finishing::new(scope, self.directory, pulse, on_event);
                let built = self.build_tables(&mut run, &mut finishing, &mut report);
                // A layer that did not get its name explains why one above it failed or is missing.
                report.built.extend(finishing.wait()?);
                built
            })
        })?;
        Ok(report)
    }

    /// Builds the missing layers.
    fn build_tables<'run: 'scope, 'scope>(
        &self,
        run: &mut Run<'run>,
        finishing: &mut Finishing<'scope, '_>,
        report: &mut BuildReport,
    ) -> Result<(), BuildError> {
        for table in run.tables.layers() {
            clean(self.directory, table.key())?;
        }
        for seeds in run.tables.layers().len() + 2..=run.last {
            let key = run.tables.key(seeds);
            let path = key.path(self.directory);
            if path.exists() {
                // Another process built it since the tables were opened.
                report.kept += 1;
                let table = Table::open(&path)?;
                run.compare(&table)?;
                clean(self.directory, key)?;
                run.tables.push(Arc::new(table))?;
            } else {
                let layer = run.table_layer(finishing.scope, key)?;
                report.built.extend(finishing.wait()?);
                run.tables.push_coming(finishing.begin(layer, self.is_read_soon(run, key))?)?;
            }
        }
        Ok(())
    }

    /// Returns true if the new layer will be read again soon and fits in the page cache together
    /// with the lower layers.
    fn is_read_soon(&self, run: &Run, key: TableKey) -> bool {
        let bytes = (2..=key.seeds).map(|seeds| packed_bytes(layer_positions(key.pits, seeds))).sum();
        key.seeds < run.last
            && self.backend.reads_files(key.pits, run.last, bytes)
            && available_memory().is_none_or(|available| bytes <= available)
    }
}

/// Builds the tables of all layers from 2 to `seeds` in `directory`, on the threads of the current
/// pool. This is a [`Builder`] with default settings.
///
/// # Errors
/// As [`Builder::run`].
pub fn build(directory: impl AsRef<Path>, rules: Rules, pits: usize, seeds: usize) -> Result<BuildReport, BuildError> {
    let directory = directory.as_ref();
    Builder::new(directory, TableKey { rules, pits, seeds }).run(&Pulse::default(), &|_| {})
}
