use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::solver::Solver;
use super::transposition::Bounds;
use crate::files;
use crate::game::{Position, Row};

/// The version of the file with the proofs.
const VERSION: u32 = 1;

/// A search saved to files: `FILE` holds the position and all proved tests as JSON, `FILE.table` the transposition table.
///
/// Both are replaced whole by renaming, so a stop at any time leaves the last ones. `FILE` is small and written after
/// every proved test; `FILE.table` now and then. What docs/solving.md says of their bytes is this version.
pub struct Checkpoint {
    path: PathBuf,
}

/// Why a checkpoint cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file system said no.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The file is none, or damaged.
    #[error("{path} cannot be used: {what}; delete it to begin anew, or name another file with --checkpoint")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// It is the checkpoint of another search.
    #[error("{path} belongs to {found}, not to {expected}; name another file with --checkpoint")]
    Other {
        /// The file.
        path: PathBuf,
        /// What it is a checkpoint of.
        found: String,
        /// What is to be solved.
        expected: String,
    },
}

#[derive(Serialize, Deserialize)]
struct State {
    format: String,
    version: u32,
    rules: String,
    position: String,
    proofs: Vec<Proof>,
}

/// A bound of a score that whole tests proved.
#[derive(Serialize, Deserialize)]
struct Proof {
    position: String,
    lower: u32,
    upper: u32,
}

const FORMAT: &str = "kalah solve checkpoint";

impl Checkpoint {
    /// The checkpoint in the file `path` and the one beside it.
    pub fn new(path: &Path) -> Checkpoint {
        Checkpoint { path: path.to_owned() }
    }

    /// Where the transposition table is saved.
    pub fn table_path(&self) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(".table");
        name.into()
    }

    /// Removes the files, if they are there.
    ///
    /// # Errors
    /// When one cannot be removed.
    pub fn remove(&self) -> Result<(), CheckpointError> {
        for path in [self.path.clone(), self.table_path()] {
            match std::fs::remove_file(&path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(CheckpointError::Io { path, source });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Saves what whole tests proved of `position`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save_proofs(&self, solver: &Solver, position: &Position) -> Result<(), CheckpointError> {
        let proof = |(position, bounds): (Position, Bounds)| Proof {
            position: literal(&position),
            lower: bounds.lower,
            upper: bounds.upper,
        };
        let state = State {
            format: FORMAT.to_owned(),
            version: VERSION,
            rules: solver.rules().to_string(),
            position: position.to_string(),
            proofs: solver.proofs().into_iter().map(proof).collect(),
        };
        replace(&self.path, |file| Ok(serde_json::to_writer_pretty(file, &state)?))
    }

    /// Saves the transposition table, also while it is searched.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save_table(&self, solver: &Solver) -> Result<(), CheckpointError> {
        replace(&self.table_path(), |file| solver.engine.save(file))
    }

    /// Takes up a saved search of `position`, if there is one: the number of proofs and transpositions read.
    ///
    /// # Errors
    /// When a file cannot be read, is damaged, or belongs to another position or rule set.
    pub fn load(&self, solver: &Solver, position: &Position) -> Result<Option<(usize, u64)>, CheckpointError> {
        let bytes = match files::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(CheckpointError::Io { path: self.path.clone(), source }),
        };
        let damaged =
            |what: &dyn std::fmt::Display| CheckpointError::Damaged { path: self.path.clone(), what: what.to_string() };
        let state: State = serde_json::from_slice(&bytes).map_err(|error| damaged(&error))?;
        if state.format != FORMAT || state.version != VERSION {
            return Err(damaged(&format_args!("it is no '{FORMAT}' of version {VERSION}")));
        }
        let found = format!("{} with {} rules", state.position, state.rules);
        let expected = format!("{position} with {} rules", solver.rules());
        if found != expected {
            return Err(CheckpointError::Other { path: self.path.clone(), found, expected });
        }
        let count = state.proofs.len();
        for Proof { position: text, lower, upper } in state.proofs {
            let sound = |position: &Position| lower <= upper && upper <= position.seeds();
            let position = text.parse().ok().filter(sound);
            let believed = position.and_then(|position| solver.believe(&position, Bounds { lower, upper }).ok());
            believed.ok_or_else(|| damaged(&format_args!("its proof of {text} is none")))?;
        }
        Ok(Some((count, self.load_table(solver)?)))
    }

    fn load_table(&self, solver: &Solver) -> Result<u64, CheckpointError> {
        let path = self.table_path();
        let file = match files::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(source) => return Err(CheckpointError::Io { path, source }),
        };
        let damaged = |what: &str| CheckpointError::Damaged { path, what: what.to_owned() };
        solver.engine.load(&mut BufReader::new(file)).map_err(damaged)
    }
}

/// The rows of a position without its stores.
fn literal(position: &Position) -> String {
    let row = |row: &Row| row.seeds().iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    format!("{}/{}", row(position.mover()), row(position.other()))
}

/// Writes a file beside `path` and puts it in its place.
fn replace(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), CheckpointError> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let written = || {
        let mut file =
            BufWriter::new(files::open_with(&partial, OpenOptions::new().write(true).create(true).truncate(true))?);
        write(&mut file)?;
        file.into_inner()?.sync_all()?;
        std::fs::rename(&partial, path)
    };
    written().map_err(|source| CheckpointError::Io { path: path.to_owned(), source })
}
