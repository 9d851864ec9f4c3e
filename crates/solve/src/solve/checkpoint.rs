use std::fmt::Display;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kalah_base::file::{self, Document, FileContent, FileLock, StateError, StateKind};
use kalah_base::lock::Mutex;
use kalah_core::game::{Bounds, ParseError, Position, Row, Rules, UnknownRules};
use serde::{Deserialize, Serialize};

use super::error::SolveError;
use super::solver::Solver;

/// Format of the file with the proofs.
const DOCUMENT: Document = Document { format: "kalah solve checkpoint", version: 2 };

/// A search saved to files. `FILE` has the position and all proved tests as JSON, `FILE.table` the
/// transposition table.
///
/// Both are replaced as a whole, so an interruption at any time leaves the last complete ones. `FILE` is small
/// and written after every proved test, `FILE.table` from time to time. Only one process at a time can have a
/// checkpoint open. docs/solving.md describes the formats.
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    /// Held while the proofs are saved, so that an older state never replaces a newer one.
    proofs: Mutex<()>,
    /// Held while the table is saved.
    table: Mutex<()>,
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

/// Error of resuming a checkpoint.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// Its files cannot be used.
    #[error("{0}")]
    State(#[from] StateError),
    /// Its contents cannot be compared with the tables.
    #[error("{0}")]
    Solve(#[source] SolveError),
}

#[derive(Serialize, Deserialize)]
struct State {
    rules: String,
    position: String,
    proofs: Vec<Proof>,
}

impl State {
    /// Reads the bytes of the file `path`.
    fn parse(bytes: &[u8], path: &Path) -> Result<State, StateError> {
        DOCUMENT.parse(bytes).map_err(|error| StateError::document(StateKind::Checkpoint, path, &error))
    }
}

/// Bounds of a score, proved by complete tests.
#[derive(Serialize, Deserialize)]
struct Proof {
    position: String,
    lower: u32,
    upper: u32,
}

impl Proof {
    /// The position and the bounds; `None` if they are impossible.
    fn bounds(&self) -> Option<(Position, Bounds)> {
        let (position, bounds) = (self.position.parse().ok(), Bounds { lower: self.lower, upper: self.upper });
        let is_possible = |position: &Position| {
            *position == position.without_stores() && bounds.lower <= bounds.upper && bounds.upper <= position.seeds()
        };
        Some((position.filter(is_possible)?, bounds))
    }

    /// Message for impossible bounds.
    fn impossible(&self) -> String {
        format!("its bounds of {} are impossible", self.position)
    }
}

impl Checkpoint {
    /// Opens the checkpoint in the file `path` and the file next to it; neither need exist. Removes temporary
    /// files of killed processes. No other process can open it until it is dropped.
    ///
    /// # Errors
    /// If another process has it open, or a file cannot be saved there: the directory is not writable, the name
    /// is too long, or a file of another kind is in its place.
    pub fn open(path: impl AsRef<Path>) -> Result<Checkpoint, StateError> {
        let path = path.as_ref();
        let path = file::resolved(path);
        let lock = FileLock::beside(&path)?;
        let checkpoint = Checkpoint { path, proofs: Mutex::default(), table: Mutex::default(), _lock: lock };
        let table = checkpoint.table_path();
        file::require_own(&table, FileContent::Transpositions).map_err(StateError::io(&table))?;
        let files = [(checkpoint.path.clone(), FileContent::State), (table, FileContent::Transpositions)];
        for (path, content) in files {
            // Otherwise a search of hours might not be saved.
            file::remove_leftovers(&path)
                .and_then(|()| file::require_writable(&path, Some(content)))
                .map_err(StateError::writing(StateKind::Checkpoint, path))?;
        }
        Ok(checkpoint)
    }

    /// Path of the saved transposition table.
    pub fn table_path(&self) -> PathBuf {
        file::beside(&self.path, ".table")
    }

    /// Removes the files if they exist. Files of other contents stay.
    ///
    /// # Errors
    /// If one cannot be removed.
    pub fn remove(&self) -> Result<(), StateError> {
        for (path, content) in
            [(self.path.clone(), FileContent::State), (self.table_path(), FileContent::Transpositions)]
        {
            file::remove_own(&path, content).map_err(StateError::io(path))?;
        }
        Ok(())
    }

    /// Saves the bounds that complete tests proved, for a search of `position`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save_proofs(&self, solver: &Solver, position: &Position) -> Result<(), StateError> {
        let _saving = self.proofs.lock();
        let proof = |(position, bounds): (Position, Bounds)| Proof {
            position: literal(&position),
            lower: bounds.lower,
            upper: bounds.upper,
        };
        let state = State {
            rules: solver.rules().to_string(),
            position: position.to_string(),
            proofs: solver.proofs().into_iter().map(proof).collect(),
        };
        DOCUMENT.write(&self.path, &state).map_err(StateError::io(&self.path))
    }

    /// Saves the transposition table. This is possible during a search.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save_table(&self, solver: &Solver) -> Result<(), StateError> {
        let _saving = self.table.lock();
        let path = self.table_path();
        file::replace(&path, Some(FileContent::Transpositions), |file| solver.engine.save(file))
            .map_err(StateError::io(path))
    }

    /// Resumes a saved search of `position`, if there is one. Its proofs are compared with the tables and with
    /// each other.
    ///
    /// # Errors
    /// If a file cannot be read, is damaged, or belongs to another position or rule set. The solver must not be
    /// used then.
    pub fn load(&self, solver: &mut Solver, position: &Position) -> Result<Option<Resumed>, CheckpointError> {
        let Some(state) = self.state(solver.rules(), position)? else { return Ok(None) };
        let transpositions = self.load_table(solver)?;
        let proofs =
            state.proofs.iter().map(|proof| self.resume_proof(solver, proof)).collect::<Result<Vec<_>, _>>()?;
        // Bounds of a position must agree with the known bounds of the positions after its moves.
        for position in &proofs {
            solver.known_of(position).map_err(|error| self.not_proved(&literal(position), error))?;
        }
        Ok(Some(Resumed { proofs: proofs.len(), transpositions }))
    }

    /// Checks that the saved search, if there is one, can be read and is a search of `position` by `rules`.
    /// This needs no solver. The transposition table is not read.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or belongs to another position or rule set.
    pub fn check(&self, rules: Rules, position: &Position) -> Result<(), StateError> {
        self.state(rules, position).map(drop)
    }

    /// Reads the saved proofs of `position` by `rules`, if there are any.
    fn state(&self, rules: Rules, position: &Position) -> Result<Option<State>, StateError> {
        let Some(bytes) = file::found(file::read(&self.path)).map_err(StateError::io(&self.path))? else {
            return Ok(None);
        };
        let state = State::parse(&bytes, &self.path)?;
        let found = format!("{} with {} rules", state.position, state.rules);
        let expected = format!("{position} with {rules} rules");
        if found != expected {
            let what = format!("belongs to {found}, not to {expected}");
            return Err(StateError::other(StateKind::Checkpoint, &self.path, what));
        }
        Ok(Some(state))
    }

    /// Reads the proofs in the file `path` without opening it as a checkpoint: the rule set, the searched
    /// position, and positions without stores with bounds of their scores. Only the file's checksum is
    /// verified.
    ///
    /// # Errors
    /// If the file cannot be read, or is damaged.
    #[allow(clippy::type_complexity)]
    pub fn read_proofs(path: &Path) -> Result<(Rules, Position, Vec<(Position, Bounds)>), StateError> {
        let damaged = |what: &dyn Display| StateError::damaged(StateKind::Checkpoint, path, what);
        let bytes = file::read(path).map_err(StateError::io(path))?;
        let state = State::parse(&bytes, path)?;
        let rules = state.rules.parse().map_err(|error: UnknownRules| damaged(&error))?;
        let position = state.position.parse().map_err(|error: ParseError| damaged(&error))?;
        let bounds = |proof: &Proof| proof.bounds().ok_or_else(|| damaged(&proof.impossible()));
        Ok((rules, position, state.proofs.iter().map(bounds).collect::<Result<_, _>>()?))
    }

    /// Adds a proof to `solver`. Returns its position.
    fn resume_proof(&self, solver: &Solver, proof: &Proof) -> Result<Position, CheckpointError> {
        let (position, bounds) = proof.bounds().ok_or_else(|| self.damaged(&proof.impossible()))?;
        solver.add_proof(&position, bounds).map_err(|error| self.not_proved(&proof.position, error))?;
        Ok(position)
    }

    /// The error for a proof of `position` that the solver rejects.
    fn not_proved(&self, position: &str, error: SolveError) -> CheckpointError {
        match error {
            SolveError::Contradiction(_) => {
                self.damaged(&format_args!("its bounds of {position} contradict each other or the tables")).into()
            }
            SolveError::Board { .. } => self.damaged(&format_args!("{position} does not belong to the search")).into(),
            error => CheckpointError::Solve(error),
        }
    }

    fn load_table(&self, solver: &mut Solver) -> Result<u64, StateError> {
        let path = self.table_path();
        let opened = file::found(file::open(&path)).map_err(StateError::io(&path))?;
        let Some(file) = opened else { return Ok(0) };
        let damaged = |what: &str| StateError::damaged(StateKind::Checkpoint, &path, what);
        let engine = Arc::get_mut(&mut solver.engine).expect("no clone of the solver is in use");
        engine.load(&mut BufReader::new(file)).map_err(damaged)
    }

    fn damaged(&self, what: &dyn Display) -> StateError {
        StateError::damaged(StateKind::Checkpoint, &self.path, what)
    }
}

/// The rows of a position without its stores.
fn literal(position: &Position) -> String {
    let row = |row: &Row| row.seeds().iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    format!("{}/{}", row(position.mover()), row(position.other()))
}
