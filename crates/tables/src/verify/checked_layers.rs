use std::io;
use std::path::Path;

use kalah_base::file::{Document, StateError, StateKind, found, read};
use kalah_core::table::{Table, Tables};
use kalah_core::text::count;
use serde::{Deserialize, Serialize};

/// The file with the layers that earlier runs have checked.
const STATE: Document = Document { format: "kalah consistency", version: 1 };

/// Layers of one rule set and board, from 2 seeds up, whose scores all are the minimax of their
/// children. Saved after each layer, so that a later run continues above them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckedLayers {
    /// The program, with version and commit.
    program: String,
    rules: String,
    pits: usize,
    layers: Vec<CheckedLayer>,
}

/// A layer whose scores all are the minimax of their children.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckedLayer {
    /// Seeds in play.
    pub seeds: usize,
    /// Positions checked.
    pub positions: u64,
    /// Duration of the check.
    pub seconds: f64,
    /// Digest of the table, in hexadecimal.
    digest: String,
}

impl CheckedLayers {
    /// Reads the layers stored at `path`, which must be those of `tables`, checked by the same
    /// `program`. Returns no layers without a file.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or belongs to another check.
    pub fn read(path: &Path, program: String, tables: &Tables) -> Result<CheckedLayers, StateError> {
        let own =
            CheckedLayers { program, rules: tables.rules().name().to_owned(), pits: tables.pits(), layers: Vec::new() };
        let Some(bytes) = found(read(path)).map_err(StateError::io(path))? else { return Ok(own) };
        let stored: CheckedLayers =
            STATE.parse(&bytes).map_err(|error| StateError::document(StateKind::Consistency, path, &error))?;
        let CheckedLayers { program, rules, pits, layers } = &stored;
        if (rules, pits) != (&own.rules, &own.pits) {
            let what = format!("belongs to the check of the tables of {rules} with {}", count(*pits, "pit"));
            return Err(StateError::other(StateKind::Consistency, path, what));
        }
        let stale = |what| Err(StateError::Stale { path: path.to_owned(), what });
        if *program != own.program {
            return stale(format!("belongs to a check by kalah {program}, but this is {}", own.program));
        }
        for (layer, seeds) in layers.iter().zip(2..) {
            if layer.seeds != seeds {
                let what = "it is not the state of a check of layers";
                return Err(StateError::damaged(StateKind::Consistency, path, what));
            }
            if tables.layer(seeds).map(digest).as_ref() != Some(&layer.digest) {
                return stale(format!("belongs to a check of another table for {}", tables.key(seeds)));
            }
        }
        Ok(stored)
    }

    /// Stores the layers at `path`.
    ///
    /// # Errors
    /// When the file cannot be written; the old one stays unchanged.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        STATE.write(path, self)
    }

    /// Adds the next layer, whose table is `table`.
    ///
    /// # Panics
    /// When a layer below it is missing.
    pub fn add(&mut self, table: &Table, positions: u64, seconds: f64) {
        let seeds = table.key().seeds;
        assert_eq!(seeds, self.layers.len() + 2, "layers are checked in order");
        self.layers.push(CheckedLayer { seeds, positions, seconds, digest: digest(table) });
    }

    /// The layer with `seeds` seeds, if it was checked.
    pub fn layer(&self, seeds: usize) -> Option<&CheckedLayer> {
        self.layers.get(seeds.checked_sub(2)?)
    }
}

/// Digest of a table in hexadecimal.
fn digest(table: &Table) -> String {
    blake3::Hash::from_bytes(table.header().digest).to_hex().to_string()
}
