use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kalah_base::file::{self, Document, FileLock, StateError};
use kalah_core::file::{found, open};
use kalah_core::game::{Position, Rules};
use parking_lot::Mutex;
use serde::Serialize;

use super::solver::Solver;

/// The first line of the file, which the transposition table follows.
const DOCUMENT: Document = Document { format: "kalah solve checkpoint", version: 5 };

/// Maximum bytes of the first line. That of earlier versions was longer.
const MOST_LINE_BYTES: u64 = 1 << 20;

/// A search saved to a file: a line with its rules and position, and the transposition table.
///
/// It is replaced as a whole, so an interruption at any time leaves the last complete one. Only one process at a
/// time can have it open. docs/solving.md describes the format.
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    /// Held while it is saved, so that an older state never replaces a newer one.
    saving: Mutex<()>,
    _lock: FileLock,
}

/// Identity of a search.
#[derive(Serialize)]
struct Work {
    rules: String,
    position: String,
}

impl Work {
    fn new(rules: Rules, position: &Position) -> Work {
        Work { rules: rules.to_string(), position: position.to_string() }
    }
}

/// A saved search: its first line, and the file from its table on.
struct Saved {
    line: Vec<u8>,
    table: BufReader<File>,
}

impl Checkpoint {
    /// Opens the checkpoint in the file `path`, which need not exist. Removes temporary files of killed processes.
    /// No other process can open it until it is dropped.
    ///
    /// # Errors
    /// If another process has it open, or the file cannot be saved there: the directory is not writable, the name
    /// is too long, or a file of another kind is in its place.
    pub fn open(path: impl AsRef<Path>) -> Result<Checkpoint, StateError> {
        let path = file::resolved(path.as_ref());
        let lock = FileLock::beside(&path)?;
        // Otherwise a search of hours might not be saved.
        file::remove_leftovers(&path).and_then(|()| file::temporary_beside(&path)).map_err(StateError::io(&path))?;
        Ok(Checkpoint { path, saving: Mutex::default(), _lock: lock })
    }

    /// Saves the transposition table of a search of `position`, with the bounds that complete tests proved. This is
    /// possible during the search.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, solver: &Solver, position: &Position) -> Result<(), StateError> {
        let _saving = self.saving.lock();
        let write = |file: &mut file::Replacement| {
            let line = DOCUMENT.line(&Work::new(solver.rules(), position))?;
            file.write_all(&line)?;
            solver.engine.save(&line, file)
        };
        file::replace(&self.path, write).map_err(StateError::io(&self.path))
    }

    /// Resumes a saved search of `position`, if there is one. Returns the number of entries of its transposition
    /// table.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or belongs to another position or rule set.
    pub fn load(&self, solver: &mut Solver, position: &Position) -> Result<Option<u64>, StateError> {
        let Some(Saved { line, mut table }) = self.saved(solver.rules(), position)? else { return Ok(None) };
        let engine = Arc::get_mut(&mut solver.engine).expect("no clone of the solver is in use");
        engine.load(&line, &mut table).map(Some).map_err(|what| StateError::damaged(&self.path, what))
    }

    /// Checks that the saved search, if there is one, can be read and is a search of `position` by `rules`.
    /// This needs no solver. The transposition table is not read.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or belongs to another position or rule set.
    pub fn check(&self, rules: Rules, position: &Position) -> Result<(), StateError> {
        self.saved(rules, position).map(drop)
    }

    /// Opens the saved search of `position` by `rules`, if there is one.
    fn saved(&self, rules: Rules, position: &Position) -> Result<Option<Saved>, StateError> {
        let Some(file) = found(open(&self.path)).map_err(StateError::io(&self.path))? else {
            return Ok(None);
        };
        let (mut table, mut line) = (BufReader::new(file), Vec::new());
        (&mut table).take(MOST_LINE_BYTES).read_until(b'\n', &mut line).map_err(StateError::io(&self.path))?;
        // Until the search is saved, it may be empty.
        if line.is_empty() {
            return Ok(None);
        }
        StateError::unless_same(&self.path, DOCUMENT, &line, &Work::new(rules, position))?;
        Ok(Some(Saved { line, table }))
    }
}
