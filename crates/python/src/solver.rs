//! The class `Solver`.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kalah::book::{Book, BookError, Recalled};
use kalah::cancel::Cancel;
use kalah::game::{Bounds, Pit, Position as GamePosition, Rules as GameRules};
use kalah::solve::{SolveError as Error, SolveEvent, Solver as GameSolver, SolverOptions};
use kalah::table::Tables as OpenTables;
use kalah::text::count;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use self_cell::self_cell;

use crate::argument::{Callback, Integer, Seconds};
use crate::array::check_limit;
use crate::errors::python::{ArgumentError, InUseError, PositionError, TimeUpError};
use crate::errors::{OrRaise, ToPython};
use crate::position::{Line, Position, PositionArgument};
use crate::results::{moves_dict, result};
use crate::rules::{Rules, RulesArgument};
use crate::tables::Tables;
use crate::waiting::{ThreadsArgument, number, wait_for};

self_cell!(
    /// A solver and the tables that it reads.
    struct Searching {
        owner: Option<Arc<OpenTables>>,
        #[not_covariant]
        dependent: GameSolver,
    }
);

/// Maximum bytes of transposition table, unless the caller sets them, for each second and thread of the first search:
/// some ten times as many as it fills. To touch memory for the first time takes time, too.
const BYTES_A_SECOND: f64 = (64 << 20) as f64;

/// Parts of a solver that is made when a position first needs a search.
struct Wanted {
    tables: Option<Arc<OpenTables>>,
    book: Option<&'static Book>,
    largest: GamePosition,
    rules: GameRules,
    threads: usize,
    memory: Option<u64>,
}

impl Wanted {
    fn options<'t>(&self, tables: Option<&'t OpenTables>) -> SolverOptions<'t> {
        let options = SolverOptions::new(self.rules, &self.largest).tables(tables).book(self.book);
        options.threads(self.threads)
    }

    /// Makes the solver, for a first search of this time. `cancel` ends it.
    fn make(&self, time: Option<Duration>, cancel: &Cancel, tested: Arc<Mutex<Tested>>) -> Result<Searching, Error> {
        let in_proportion = |time: Duration| ((time.as_secs_f64() + 1.0) * self.threads as f64 * BYTES_A_SECOND) as u64;
        Searching::try_new(self.tables.clone(), |tables| {
            let mut options = self.options(tables.as_deref()).cancel(cancel.clone());
            let within_time = || Some(options.transposition_bytes().min(in_proportion(time?)));
            if let Some(bytes) = self.memory.or_else(within_time) {
                options = options.transpositions_up_to(bytes);
            }
            Ok(GameSolver::new(options)?.with_events(move |_, event| {
                let (SolveEvent::Begin { position, known, .. } | SolveEvent::Proved { position, known, .. }) = event
                else {
                    return;
                };
                if let Ok(mut tested) = tested.lock() {
                    *tested = Some((position, known));
                }
            }))
        })
    }
}

/// The position of the latest test, and the bounds of its score.
type Tested = Option<(GamePosition, Bounds)>;

/// The engine of a solver.
enum Engine {
    /// No position needed it yet.
    Wanted(Wanted),
    Made(Searching),
}

/// Solves positions of one rule set and board above the tables, by MTD(f). All results are proved.
///
/// `Solver(largest, rules='empty-capture', *, tables=None, book=True, threads=None, memory=None)` solves
/// positions with the pits of the position `largest` and at most its seeds in play. Proved bounds are kept for
/// the next position. With `book`, the bounds of the book that comes with the package are taken as proved, and what
/// it contains is answered at once.
///
/// `memory` is the maximum number of bytes of the transposition table. By default it depends on the board and on the
/// `seconds` of the first search, and is at most a quarter of the available memory. Larger tables make the search
/// faster. The table is made by the first call that needs a search.
///
/// Every method releases the interpreter's lock. Ctrl-C in the main thread ends it, and proved bounds are kept.
/// After `seconds`, if given, it raises TimeUpError. `progress` is called about twenty times a second with a
/// SolveProgress. An exception that it raises ends the search.
///
/// Raises SolveError if the board is too large, and ArgumentError if the tables have other rules or pits.
/// Raises OutOfMemoryError, also if `memory` is more than is available, DamagedTableError or TableError. Only
/// one thread may use a solver at a time; others get an InUseError. A position that is too large for the
/// solver, or has other pits, raises PositionError.
///
/// A `with` block closes the solver at its end, which frees the transposition table. Afterwards it raises
/// ArgumentError.
#[pyclass(module = "kalah", frozen)]
pub(crate) struct Solver {
    /// `None` once it is closed.
    engine: Mutex<Option<Engine>>,
    tested: Arc<Mutex<Tested>>,
    book: Option<&'static Book>,
    rules: GameRules,
    pits: usize,
    seeds: u32,
}

/// Arguments of a search.
struct Asked {
    seconds: Option<Seconds>,
    progress: Option<Callback>,
    start: Instant,
}

impl Asked {
    fn new(seconds: Option<Seconds>, progress: Option<Callback>) -> Asked {
        Asked { seconds, progress, start: Instant::now() }
    }

    /// Reports the nodes and the scores read from tables, and the latest test.
    fn report(&self, py: Python<'_>, nodes: u64, table_hits: u64, tested: &Mutex<Tested>) -> PyResult<()> {
        let Some(progress) = &self.progress else { return Ok(()) };
        let tested = tested.lock().ok().and_then(|tested| *tested);
        let (lower, upper) =
            tested.map(|(position, known)| (position.value(known.lower), position.value(known.upper))).unzip();
        let seconds = self.start.elapsed().as_secs_f64();
        let now = result(py, "SolveProgress", (nodes, table_hits, seconds, lower, upper))?;
        progress.0.call1(py, (now,)).map(|_| ())
    }
}

#[pymethods]
impl Solver {
    #[new]
    #[pyo3(
        signature = (
            largest, rules = RulesArgument::default(), *, tables = None, book = true, threads = None, memory = None
        ),
        text_signature = "(largest, rules='empty-capture', *, tables=None, book=True, threads=None, memory=None)"
    )]
    fn new(
        largest: PositionArgument,
        rules: RulesArgument,
        tables: Option<PyRef<'_, Tables>>,
        book: bool,
        threads: Option<ThreadsArgument>,
        memory: Option<Integer>,
    ) -> PyResult<Solver> {
        let (largest, rules) = (largest.0, rules.0);
        let (pits, seeds) = (largest.pits(), largest.seeds());
        let tables = shared(tables.as_deref(), rules, pits)?;
        let memory = memory.map(|bytes| bytes.at_least("memory", 0, u64::MAX)).transpose()?;
        if let Some(bytes) = memory {
            check_limit(bytes, "the transposition table")?;
        }
        let book = Book::shipped(rules, pits).filter(|_| book);
        let wanted = Wanted { tables, book, largest, rules, threads: number(threads), memory };
        wanted.options(wanted.tables.as_deref()).check().or_raise()?;
        let (engine, tested) = (Mutex::new(Some(Engine::Wanted(wanted))), Arc::default());
        Ok(Solver { engine, tested, book, rules, pits, seeds })
    }

    /// Frees the transposition table and lets go of the tables. Closing again does nothing. Raises InUseError if
    /// another thread is using the solver.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let closed = self.engine.try_lock().map_err(|_| in_use())?.take();
        py.detach(|| drop(closed));
        Ok(())
    }

    /// Returns this solver.
    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    /// Closes this solver.
    #[pyo3(signature = (*_exception), text_signature = "($self, *exception)")]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    /// Returns score, value, all best moves and a line of best play. `guess` is a first guess of the value; a
    /// wrong one only costs time. If the book has the value and decides every move, its line may stop before the end
    /// of the game.
    #[pyo3(signature = (position, *, guess = None, seconds = None, progress = None))]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        position: PositionArgument,
        guess: Option<Integer>,
        seconds: Option<Seconds>,
        progress: Option<Callback>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (position, asked) = (position.0, Asked::new(seconds, progress));
        let start = asked.start;
        let known = |book: &Book, recalled: &Recalled| {
            let Some(score) = recalled.score().filter(|_| recalled.is_decided()) else { return Ok(None) };
            let (line, complete) = book.line(&position, None::<&OpenTables>)?;
            Ok(Some((score, recalled.best().collect::<Vec<_>>(), line, !complete, 0)))
        };
        let (score, best, line, line_open, nodes) = self.search(py, &position, &asked, known, |solver| {
            let before = solver.nodes();
            let guess = guess.map_or_else(|| solver.first_guess(&position), |guess| Ok(guess.clamped()))?;
            let found = solver.solve(&position, guess)?;
            Ok((found.score, found.best().collect(), found.line, false, solver.nodes() - before))
        })?;
        let best = PyTuple::new(py, best.iter().map(|pit| pit.number()))?;
        let (value, line, seconds) = (position.value(score), Line::of(line, self.pits), start.elapsed().as_secs_f64());
        result(py, "Solution", (Position(position), score, value, best, line, line_open, nodes, seconds))
    }

    /// Returns the final store difference for the mover with best play.
    #[pyo3(signature = (position, *, guess = None, seconds = None, progress = None))]
    fn value(
        &self,
        py: Python<'_>,
        position: PositionArgument,
        guess: Option<Integer>,
        seconds: Option<Seconds>,
        progress: Option<Callback>,
    ) -> PyResult<i64> {
        let position = position.0;
        let known = |_: &Book, recalled: &Recalled| Ok(recalled.score().map(|score| position.value(score)));
        self.search(py, &position, &Asked::new(seconds, progress), known, |solver| {
            let guess = guess.map_or_else(|| solver.first_guess(&position), |guess| Ok(guess.clamped()))?;
            Ok(solver.value(&position, guess)?.1)
        })
    }

    /// Returns True if the final store difference for the mover is at least `value` with best play.
    #[pyo3(signature = (position, value, *, seconds = None, progress = None))]
    fn at_least(
        &self,
        py: Python<'_>,
        position: PositionArgument,
        value: Integer,
        seconds: Option<Seconds>,
        progress: Option<Callback>,
    ) -> PyResult<bool> {
        let (position, value) = (position.0, value.clamped());
        let known = |_: &Book, recalled: &Recalled| {
            let Bounds { lower, upper } = recalled.bounds;
            let is_decided = position.value(lower) >= value || position.value(upper) < value;
            Ok(is_decided.then(|| position.value(lower) >= value))
        };
        self.search(py, &position, &Asked::new(seconds, progress), known, |solver| solver.at_least(&position, value))
    }

    /// Returns the mover's exact score after each legal move, seeds stored by the move included: a dict with
    /// numbers of pits from 1 as keys.
    #[pyo3(signature = (position, *, seconds = None, progress = None))]
    fn move_scores<'py>(
        &self,
        py: Python<'py>,
        position: PositionArgument,
        seconds: Option<Seconds>,
        progress: Option<Callback>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (position, rules) = (position.0, self.rules);
        let known = |_: &Book, recalled: &Recalled| {
            let scores = || recalled.moves.iter().map(|&(pit, bounds)| (pit, bounds.lower)).collect::<Vec<_>>();
            Ok(recalled.is_exact().then(scores))
        };
        let scores = self.search(py, &position, &Asked::new(seconds, progress), known, |solver| {
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

    /// Nodes visited so far.
    #[getter]
    fn nodes(&self) -> PyResult<u64> {
        match self.engine.try_lock().map_err(|_| in_use())?.as_ref().ok_or_else(closed)? {
            Engine::Wanted(_) => Ok(0),
            Engine::Made(searching) => Ok(searching.with_dependent(|_, solver| solver.nodes())),
        }
    }

    /// The rule set.
    #[getter]
    fn rules(&self) -> Rules {
        Rules(self.rules)
    }

    /// Pits a side.
    #[getter]
    fn pits(&self) -> usize {
        self.pits
    }

    /// Maximum seeds in play of positions that it solves.
    #[getter]
    fn max_seeds(&self) -> u32 {
        self.seeds
    }

    fn __repr__(&self) -> String {
        format!("<kalah.Solver: {}, {}, to {} seeds>", self.rules, count(self.pits, "pit"), self.seeds)
    }
}

/// The error for a second thread.
pub(crate) fn in_use() -> PyErr {
    InUseError::new_err("another thread uses this solver or player: make one for each thread")
}

fn closed() -> PyErr {
    ArgumentError::new_err("this solver is closed: make another one")
}

/// The tables, if they are for this board.
pub(crate) fn shared(tables: Option<&Tables>, rules: GameRules, pits: usize) -> PyResult<Option<Arc<OpenTables>>> {
    let Some(tables) = tables else { return Ok(None) };
    if (tables.opened.rules, tables.opened.pits) != (rules, pits) {
        return Err(ArgumentError::new_err(format!(
            "the tables are for {} with {}, not for {rules} with {pits}",
            tables.opened.rules,
            count(tables.opened.pits, "pit")
        )));
    }
    tables.opened.tables().map(Some)
}

impl Solver {
    /// Returns what is `known` from the book, or does `work` with the solver until the time is up. It can be
    /// interrupted.
    fn search<T: Send>(
        &self,
        py: Python<'_>,
        position: &GamePosition,
        asked: &Asked,
        known: impl FnOnce(&Book, &Recalled) -> Result<Option<T>, BookError> + Send,
        work: impl FnOnce(&GameSolver) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        if position.pits() != self.pits || position.seeds() > self.seeds {
            return Err(PositionError::new_err(format!(
                "{position} has {} and {} in play; this solver is for {} and up to {} seeds",
                count(position.pits(), "pit"),
                count(position.seeds() as usize, "seed"),
                count(self.pits, "pit"),
                self.seeds
            )));
        }
        let mut engine = self.engine.try_lock().map_err(|_| in_use())?;
        let engine = engine.as_mut().ok_or_else(closed)?;
        let recall = |book: &Book| {
            let recalled = book.recall(position, None)?;
            if recalled.from_book { known(book, &recalled) } else { Ok(None) }
        };
        if let Some(found) = py.detach(|| self.book.map_or(Ok(None), recall)).or_raise()? {
            return Ok(found);
        }
        let (cancel, tested) = (Cancel::new(), &*self.tested);
        let time = asked.seconds.as_ref().map(|seconds| seconds.0);
        let limited = cancel.until(time.and_then(|time| asked.start.checked_add(time)));
        if let Engine::Wanted(wanted) = engine {
            let make = || wanted.make(time, &limited, Arc::clone(&self.tested));
            let made = wait_for(py, make, &cancel, |py| asked.report(py, 0, 0, tested))?;
            *engine = Engine::Made(made.map_err(in_time)?);
        }
        let Engine::Made(searching) = engine else { unreachable!("it was just made") };
        searching.with_dependent(|_, solver| {
            let solver = solver.under(&limited);
            let report = |py: Python<'_>| asked.report(py, solver.nodes(), solver.table_hits(), tested);
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
