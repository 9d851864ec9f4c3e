//! The file of `kalah verify --state`: the layers whose scores earlier runs have checked.

use std::path::{Path, PathBuf};

use anyhow::Context;
use kalah::file::{FileContent, FileLock, StateError, StateKind, found, remove_leftovers, require_writable};
use kalah::table::{Table, Tables};
use kalah::verify::CheckedLayers;

use crate::cli::program;
use crate::cli::tables::verify::report::{Check, Passed};

/// Checked layers in a file, which no other process uses.
pub struct SavedLayers {
    path: PathBuf,
    layers: CheckedLayers,
    _lock: FileLock,
}

impl SavedLayers {
    /// Reads the layers in the file `path`, which may not exist. They must be those of `tables`.
    pub fn open(path: &Path, tables: &Tables) -> anyhow::Result<SavedLayers> {
        let lock = FileLock::beside(path)?;
        let cannot_write = || format!("cannot write {}", path.display());
        remove_leftovers(path).with_context(cannot_write)?;
        require_writable(path, Some(FileContent::State)).map_err(StateError::writing(StateKind::Consistency, path))?;
        let layers = CheckedLayers::read(path, program::short_version(), tables)?;
        Ok(SavedLayers { path: path.to_owned(), layers, _lock: lock })
    }

    /// Returns the check of a layer by an earlier run.
    pub fn earlier(&self, seeds: usize) -> Option<Passed> {
        let layer = self.layers.layer(seeds)?;
        Some(Passed {
            seeds,
            check: Check::Consistency,
            checked: layer.positions,
            frames: Some(seeds - 1),
            seconds: layer.seconds,
            earlier: true,
        })
    }

    /// Returns true if an earlier run has checked a layer.
    pub fn has(&self, seeds: usize) -> bool {
        self.layers.layer(seeds).is_some()
    }

    /// Adds the check of the next layer, and writes the file.
    pub fn add(&mut self, table: &Table, passed: &Passed) -> anyhow::Result<()> {
        self.layers.add(table, passed.checked, passed.seconds);
        self.layers.write(&self.path).with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Removes the file.
    pub fn remove(self) -> anyhow::Result<()> {
        let removed = found(std::fs::remove_file(&self.path));
        removed.map(drop).with_context(|| format!("cannot remove {}", self.path.display()))
    }
}
