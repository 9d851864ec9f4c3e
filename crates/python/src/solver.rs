//! The class `Solver`.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use kalah::answer::SolveAnswer;
use kalah::book::{Book, Recalled};
use kalah::cancel::Cancel;
use kalah::game::{Bounds, Pit, Position as GamePosition, Rules as GameRules};
use kalah::solve::{SolveError as Error, Solver as GameSolver, SolverOptions};
use kalah::table::Tables as OpenTables;
use kalah::text::count;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use self_cell::self_cell;

use crate::array::check_limit;
use crate::errors::python::{ArgumentError, InUseError, PositionError, TimeUpError};
use crate::errors::{OrRaise, ToPython, duration};
use crate::position::{Line, Position};
use crate::results::{Document, moves_dict, result};
use crate::rules::Rules;
use crate::tables::Tables;
use crate::waiting::{number, wait_for};

self_cell!(
    /// A solver and the tables that it reads.
    struct Searching {
        owner: Option<Arc<OpenTables>>,
        #[not_covariant]
        dependent: GameSolver,
    }
);

/// Solves positions of one rule set and board above the tables, by MTD(f). All results are proved.
///
/// `Solver(largest, rules='empty-capture', *, tables=None, book=True, threads=None, memory=None)` solves
/// positions with the pits of the position `largest` and at most its seeds in play. Proved bounds are kept for
/// the next position. With `book`, the bounds of the book that comes with the package are taken as proved, and what
/// it contains is answered at once.
///
/// `memory` is the maximum number of bytes of the transposition table, by default 1 GiB, and less for a small board.
/// The table is made by the first call that needs a search.
///
/// Every method releases the interpreter's lock. Ctrl-C in the main thread ends it, and proved bounds are kept.
/// After `seconds`, if given, it raises TimeUpError. `progress` is called about twenty times a second with a
/// SolveProgress. An exception that it raises ends the search.
///
/// Raises SolveError if the board is too large, and ArgumentError if the tables have other rules or pits.
/// Raises OutOfMemoryError, also if `memory` is more than is available, DamagedTableError or TableError. Only
/// one thread may use a solver at a time; others get an InUseError. A position that is too large for the
/// solver, or has other pits, raises PositionError.
#[pyclass(module = "kalah", frozen)]
pub(crate) struct Solver {
    tables: Option<Arc<OpenTables>>,
    book: Option<&'static Book>,
    largest: GamePosition,
    rules: GameRules,
    threads: usize,
    memory: Option<u64>,
    /// Made when a position first needs a search.
    searching: Mutex<Option<Searching>>,
}

#[pymethods]
impl Solver {
    #[new]
    #[pyo3(
        signature = (largest, rules = Rules::default(), *, tables = None, book = true, threads = None, memory = None),
        text_signature = "(largest, rules='empty-capture', *, tables=None, book=True, threads=None, memory=None)"
    )]
    fn new(
        largest: Position,
        rules: Rules,
        tables: Option<PyRef<'_, Tables>>,
        book: bool,
        threads: Option<u16>,
        memory: Option<u64>,
    ) -> PyResult<Solver> {
        let (largest, rules) = (largest.0, rules.0);
        let tables = shared(tables.as_deref(), rules, largest.pits())?;
        if let Some(bytes) = memory {
            check_limit(bytes, "the transposition table")?;
        }
        let book = Book::shipped(rules, largest.pits()).filter(|_| book);
        let (threads, searching) = (number(threads), Mutex::new(None));
        let solver = Solver { tables, book, largest, rules, threads, memory, searching };
        solver.options(solver.tables.as_deref()).check().or_raise()?;
        Ok(solver)
    }

    /// Returns score, value, all best moves and a line of best play. If the book has the value and decides every
    /// move, its line may stop before the end of the game.
    #[pyo3(signature = (position, *, seconds = None, progress = None))]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        position: Position,
        seconds: Option<f64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (Position(position), start) = (position, Instant::now());
        self.check(&position)?;
        let mut answer = SolveAnswer::new(self.rules, &position, self.book).or_raise()?;
        answer.threads = self.threads;
        if answer.best.is_none() {
            self.search(py, &position, seconds, progress, |solver| {
                let (nodes, hits) = (solver.nodes(), solver.table_hits());
                answer.add_solution(&solver.solve(&position, solver.first_guess(&position)?)?);
                answer.add_effort(solver, self.threads, start.elapsed());
                (answer.nodes, answer.table_hits) = (answer.nodes - nodes, answer.table_hits - hits);
                Ok(())
            })?;
        }
        answer.seconds = start.elapsed().as_secs_f64();
        let value = answer.value.value().expect("it is proved");
        let (line, line_open) = (answer.line.as_deref().unwrap_or_default(), answer.line_open);
        let (line, best, nodes) = (Line::new(line, position.pits() as i64)?, answer.best.clone(), answer.nodes);
        let (score, seconds) = (position.score(value), answer.seconds);
        let document = Document::new(move || serde_json::to_string(&answer));
        result(py, "Solution", (Position(position), score, value, best, line, line_open, nodes, seconds, document))
    }

    /// Returns the final store difference for the mover with best play.
    #[pyo3(signature = (position, *, seconds = None, progress = None))]
    fn value(
        &self,
        py: Python<'_>,
        position: Position,
        seconds: Option<f64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<i64> {
        let Position(position) = position;
        if let Some(score) = self.recall(&position)?.and_then(|recalled| recalled.score()) {
            return Ok(position.value(score));
        }
        let guess = |solver: &GameSolver| solver.first_guess(&position);
        self.search(py, &position, seconds, progress, |solver| Ok(solver.value(&position, guess(solver)?)?.1))
    }

    /// Returns the mover's exact score after each legal move, seeds stored by the move included: a dict with
    /// numbers of pits from 1 as keys.
    #[pyo3(signature = (position, *, seconds = None, progress = None))]
    fn move_scores<'py>(
        &self,
        py: Python<'py>,
        position: Position,
        seconds: Option<f64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (Position(position), rules) = (position, self.rules);
        if let Some(recalled) = self.recall(&position)?.filter(Recalled::is_exact) {
            return moves_dict(py, recalled.moves.iter().map(|&(pit, bounds)| (pit, bounds.lower)));
        }
        let scores = self.search(py, &position, seconds, progress, |solver| {
            let score = |pit: Pit| {
                let played = position.play(rules, pit).expect("a legal move");
                let child = played.position;
                let score = match child.final_value() {
                    Some(_) => child.mover().total(),
                    None => solver.value(&child, solver.first_guess(&child)?)?.0,
                };
                Ok((pit, played.mover_score(&position, score)))
            };
            position.moves().map(score).collect::<Result<Vec<_>, Error>>()
        })?;
        moves_dict(py, scores)
    }

    /// The rule set.
    #[getter]
    fn rules(&self) -> Rules {
        Rules(self.rules)
    }

    /// Pits a side.
    #[getter]
    fn pits(&self) -> usize {
        self.largest.pits()
    }

    /// Maximum seeds in play of positions that it solves.
    #[getter]
    fn max_seeds(&self) -> u32 {
        self.largest.seeds()
    }

    fn __repr__(&self) -> String {
        format!("<kalah.Solver: {}, {}, to {} seeds>", self.rules, count(self.pits(), "pit"), self.max_seeds())
    }
}

/// The error for a second thread.
pub(crate) fn in_use() -> PyErr {
    InUseError::new_err("another thread uses this solver or player: make one for each thread")
}

/// The tables, if they are for this board.
pub(crate) fn shared(tables: Option<&Tables>, rules: GameRules, pits: usize) -> PyResult<Option<Arc<OpenTables>>> {
    let Some(tables) = tables else { return Ok(None) };
    if (tables.rules, tables.pits) != (rules, pits) {
        return Err(ArgumentError::new_err(format!(
            "the tables are for {} with {}, not for {rules} with {pits}",
            tables.rules,
            count(tables.pits, "pit")
        )));
    }
    tables.tables().map(Some)
}

impl Solver {
    fn options<'t>(&self, tables: Option<&'t OpenTables>) -> SolverOptions<'t> {
        SolverOptions::new(self.rules, &self.largest).tables(tables).book(self.book).threads(self.threads)
    }

    /// Makes the solver. `cancel` ends it.
    fn make(&self, cancel: &Cancel) -> Result<Searching, Error> {
        Searching::try_new(self.tables.clone(), |tables| {
            let options = self.options(tables.as_deref()).cancel(cancel.clone());
            GameSolver::new(match self.memory {
                Some(bytes) => options.transpositions(bytes),
                None => options,
            })
        })
    }

    /// The book's bounds of a position that it has.
    fn recall(&self, position: &GamePosition) -> PyResult<Option<Recalled>> {
        self.check(position)?;
        let recalled = self.book.map(|book| book.recall(position, None)).transpose().or_raise()?;
        Ok(recalled.filter(|recalled| recalled.from_book))
    }

    /// Raises an error for a position of another board, or one with too many seeds.
    fn check(&self, position: &GamePosition) -> PyResult<()> {
        if position.pits() == self.pits() && position.seeds() <= self.max_seeds() {
            return Ok(());
        }
        Err(PositionError::new_err(format!(
            "{position} has {} and {} in play; this solver is for {} and up to {} seeds",
            count(position.pits(), "pit"),
            count(position.seeds() as usize, "seed"),
            count(self.pits(), "pit"),
            self.max_seeds()
        )))
    }

    /// Does `work` with the solver until the time is up. It can be interrupted.
    fn search<T: Send>(
        &self,
        py: Python<'_>,
        position: &GamePosition,
        seconds: Option<f64>,
        progress: Option<Py<PyAny>>,
        work: impl FnOnce(&GameSolver) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let mut searching = self.searching.try_lock().map_err(|_| in_use())?;
        let (start, cancel, time) = (Instant::now(), Cancel::new(), duration(seconds)?);
        let limited = cancel.until(time.and_then(|time| start.checked_add(time)));
        let report = |py: Python<'_>, nodes: u64, table_hits: u64, known: Bounds| {
            let Some(progress) = &progress else { return Ok(()) };
            let (lower, upper) = (position.value(known.lower), position.value(known.upper));
            let now = result(py, "SolveProgress", (nodes, table_hits, start.elapsed().as_secs_f64(), lower, upper))?;
            progress.call1(py, (now,)).map(drop)
        };
        if searching.is_none() {
            let all = Bounds { lower: 0, upper: position.seeds() };
            let made = wait_for(py, || self.make(&limited), &cancel, |py| report(py, 0, 0, all))?;
            *searching = Some(made.map_err(in_time)?);
        }
        searching.as_ref().expect("it was just made").with_dependent(|_, solver| {
            let solver = solver.under(&limited);
            let report = |py: Python<'_>| {
                report(py, solver.nodes(), solver.table_hits(), solver.known(position).map_err(in_time)?)
            };
            wait_for(py, || work(&solver), &cancel, report)?.map_err(in_time)
        })
    }
}

/// The exception for an error of a search that nothing but its time stops.
fn in_time(error: Error) -> PyErr {
    match error {
        Error::Stopped => TimeUpError::new_err("the time ran out before the result was proved"),
        error => error.to_python(),
    }
}
