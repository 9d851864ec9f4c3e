//! The file of `kalah verify --state`: the layers whose scores earlier runs have checked.

use std::path::Path;

use kalah::file::{Document, StateError, StateFile};
use kalah::table::{Table, Tables};
use serde::{Deserialize, Serialize};

use crate::cli::tables::verify::report::{Check, Passed};
use crate::cli::{output, program};

/// The file: a record for each layer.
const DOCUMENT: Document = Document { format: "kalah consistency", version: 2 };

/// Identity of a check.
#[derive(Serialize)]
struct Work {
    /// Program, with version and commit.
    program: String,
    rules: &'static str,
    pits: usize,
}

/// A layer whose scores all are the minimax of their children.
#[derive(Serialize, Deserialize)]
struct CheckedLayer {
    seeds: usize,
    positions: u64,
    seconds: f64,
    /// Digest of the table, in hexadecimal.
    digest: String,
}

/// Checked layers in a file, which no other process uses.
pub(super) struct SavedLayers {
    file: StateFile,
    layers: Vec<CheckedLayer>,
}

impl SavedLayers {
    /// Reads the layers in the file `path`, which may not exist. They must be those of `tables`.
    pub(super) fn open(path: &Path, tables: &Tables) -> Result<SavedLayers, StateError> {
        let work = Work { program: program::short_version(), rules: tables.rules().name(), pits: tables.pits() };
        let (file, layers) = StateFile::open::<CheckedLayer>(path, DOCUMENT, &work)?;
        let is_other = |layer: &&CheckedLayer| tables.layer(layer.seeds).map(digest).as_ref() != Some(&layer.digest);
        if let Some(layer) = layers.iter().find(is_other) {
            let what = format!("it has a check of another table for {}", tables.key(layer.seeds));
            return Err(StateError::Other { path: file.path().to_owned(), what });
        }
        Ok(SavedLayers { file, layers })
    }

    /// Returns the check of a layer by an earlier run.
    pub(super) fn earlier(&self, seeds: usize) -> Option<Passed> {
        let layer = self.layers.iter().find(|layer| layer.seeds == seeds)?;
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
    pub(super) fn has(&self, seeds: usize) -> bool {
        self.earlier(seeds).is_some()
    }

    /// Adds the check of a layer.
    pub(super) fn add(&mut self, table: &Table, passed: &Passed) -> Result<(), StateError> {
        let &Passed { seeds, checked: positions, seconds, .. } = passed;
        self.file.append(&CheckedLayer { seeds, positions, seconds, digest: digest(table) })
    }

    /// Removes the file.
    pub(super) fn remove(self) -> Result<(), StateError> {
        self.file.remove()
    }
}

/// Digest of a table in hexadecimal.
fn digest(table: &Table) -> String {
    output::hex(&table.header().digest)
}
