use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kalah_base::file::{self, Document, FileLock, StateError};
use kalah_core::file::{found, open};
use kalah_core::game::{Bounds, Position, Rules};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::error::SolveError;
use super::solver::Solver;

/// The first line of the file, which the transposition table follows.
const DOCUMENT: Document = Document { format: "kalah solve checkpoint", version: 4 };

/// Maximum bytes of the first line.
const MOST_HEAD_BYTES: u64 = 1 << 28;

/// A search saved to a file: a line with the position and all proved bounds, and the transposition table.
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

/// Content of a checkpoint that a resumed search uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resumed {
    /// Number of positions with proved bounds.
    pub proofs: usize,
    /// Number of entries of the transposition table.
    pub transpositions: u64,
}

/// Identity of a search.
#[derive(Serialize, Deserialize)]
struct Work {
    rules: String,
    position: String,
}

#[derive(Serialize, Deserialize)]
struct Head {
    #[serde(flatten)]
    work: Work,
    proofs: Vec<Proof>,
}

/// Bounds of a score, proved by complete tests.
#[derive(Serialize, Deserialize)]
struct Proof {
    position: String,
    lower: u32,
    upper: u32,
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

    /// Saves the bounds that complete tests proved, for a search of `position`, and the transposition table. This
    /// is possible during the search.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, solver: &Solver, position: &Position) -> Result<(), StateError> {
        let _saving = self.saving.lock();
        let proof = |(position, bounds): (Position, Bounds)| Proof {
            position: position.to_string(),
            lower: bounds.lower,
            upper: bounds.upper,
        };
        let work = Work { rules: solver.rules().to_string(), position: position.to_string() };
        let head = Head { work, proofs: solver.proofs().into_iter().map(proof).collect() };
        let write = |file: &mut file::Replacement| {
            file.write_all(&DOCUMENT.line(&head)?)?;
            solver.engine.save(file)
        };
        file::replace(&self.path, write).map_err(StateError::io(&self.path))
    }

    /// Resumes a saved search of `position`, if there is one. Its proofs are compared with the tables and with
    /// each other.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or belongs to another position or rule set. The solver must not be
    /// used then.
    pub fn load(&self, solver: &mut Solver, position: &Position) -> Result<Option<Resumed>, SolveError> {
        let Some((head, mut file)) = self.head(solver.rules(), position)? else { return Ok(None) };
        let engine = Arc::get_mut(&mut solver.engine).expect("no clone of the solver is in use");
        let transpositions = engine.load(&mut file).map_err(|what| self.damaged(&what))?;
        let impossible = |position: &str| self.damaged(&format_args!("its bounds of {position} are impossible"));
        let mut proofs = Vec::new();
        for proof in &head.proofs {
            proofs.push(Checkpoint::resume_proof(solver, proof)?.ok_or_else(|| impossible(&proof.position))?);
        }
        // Bounds of a position must agree with the known bounds of the positions after its moves.
        for position in &proofs {
            solver.known_of(position).map_err(|error| match error {
                SolveError::Contradiction(_) => impossible(&position.to_string()).into(),
                error => error,
            })?;
        }
        Ok(Some(Resumed { proofs: proofs.len(), transpositions }))
    }

    /// Checks that the saved search, if there is one, can be read and is a search of `position` by `rules`.
    /// This needs no solver. The transposition table is not read.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or belongs to another position or rule set.
    pub fn check(&self, rules: Rules, position: &Position) -> Result<(), StateError> {
        self.head(rules, position).map(drop)
    }

    /// Reads the first line of a saved search of `position` by `rules`, if there is one. The table follows.
    fn head(&self, rules: Rules, position: &Position) -> Result<Option<(Head, BufReader<File>)>, StateError> {
        let Some(file) = found(open(&self.path)).map_err(StateError::io(&self.path))? else {
            return Ok(None);
        };
        // Until the search is saved, it may be empty.
        if file.metadata().map_err(StateError::io(&self.path))?.len() == 0 {
            return Ok(None);
        }
        let mut file = BufReader::new(file);
        let mut line = Vec::new();
        (&mut file).take(MOST_HEAD_BYTES).read_until(b'\n', &mut line).map_err(StateError::io(&self.path))?;
        let head: Head = DOCUMENT.parse(&line).map_err(StateError::document(&self.path))?;
        let own = Work { rules: rules.to_string(), position: position.to_string() };
        StateError::unless_same(&self.path, &head.work, &own)?;
        Ok(Some((head, file)))
    }

    /// Adds a proof to `solver`. Returns its position; `None` if the proof cannot be one of its search.
    fn resume_proof(solver: &Solver, proof: &Proof) -> Result<Option<Position>, SolveError> {
        let (position, bounds) = (proof.position.parse().ok(), Bounds { lower: proof.lower, upper: proof.upper });
        let is_possible = |position: &Position| {
            *position == position.without_stores() && bounds.lower <= bounds.upper && bounds.upper <= position.seeds()
        };
        let Some(position) = position.filter(is_possible) else { return Ok(None) };
        match solver.add_proof(&position, bounds) {
            Err(SolveError::Contradiction(_) | SolveError::Board { .. }) => Ok(None),
            added => added.map(|()| Some(position)),
        }
    }

    fn damaged(&self, what: &dyn Display) -> StateError {
        StateError::damaged(&self.path, what)
    }
}
