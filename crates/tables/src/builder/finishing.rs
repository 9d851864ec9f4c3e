use std::path::Path;
use std::thread::{Scope, ScopedJoinHandle};

use kalah_base::file;
use kalah_base::progress::Pulse;
use kalah_core::table::{Table, TableError, TableKey};

use super::error::BuildError;
use super::event::BuildEvent;
use super::log::BuildRecord;
use crate::table::{CompleteTable, remove_partial, remove_pieces};

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
        let spawned = std::thread::Builder::new().spawn_scoped(self.scope, finish);
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
