//! The class `Player`.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use kalah::answer::MoveAnswer;
use kalah::book::Book;
use kalah::cancel::Cancel;
use kalah::game::Rules as GameRules;
use kalah::play::{Player as GamePlayer, PlayerName, Setting, Worth};
use kalah::solve::SearchMemory;
use kalah::table::Tables as OpenTables;
use pyo3::prelude::*;
use self_cell::self_cell;

use crate::array::check_limit;
use crate::errors::python::{ArgumentError, IllegalMoveError};
use crate::errors::{OrRaise, duration};
use crate::position::Position;
use crate::results::{Document, result};
use crate::rules::Rules;
use crate::solver::{in_use, shared};
use crate::tables::Tables;
use crate::waiting::{number, wait_for};

/// Default bytes of the transposition table.
const MEMORY: u64 = SearchMemory::SHARED_TRANSPOSITIONS;

/// A player and the tables that it reads.
type BoxedPlayer<'t> = Box<dyn GamePlayer + 't>;

self_cell!(
    /// A player and the tables that it reads.
    struct Playing {
        owner: Option<Arc<OpenTables>>,
        #[not_covariant]
        dependent: BoxedPlayer,
    }
);

/// A player by its name: 'perfect', 'minimax:D', 'alphabeta:D', 'heuristic', 'minimax2:D', 'minimax3:D',
/// 'greedy', 'random' or 'random:SEED', where D is a depth (docs/players.md). 'random' plays other moves each time,
/// 'random:SEED' the same ones.
///
/// `Player(name, rules='empty-capture', *, tables=None, book=True, threads=None, memory=268435456)`. All
/// arguments except the name and the rules apply to 'perfect' only. It plays by the tables, then by the book
/// that comes with the package, then by the results of a search. `memory` is the maximum number of bytes of its
/// transposition table.
///
/// Raises ArgumentError for any other name, or if the tables are for other rules. Raises OutOfMemoryError if
/// `memory` is more than is available. Only one thread may use a player at a time; others get an InUseError.
#[pyclass(module = "kalah", frozen)]
pub(crate) struct Player {
    playing: Mutex<Playing>,
    name: String,
    rules: GameRules,
}

#[pymethods]
impl Player {
    #[new]
    #[pyo3(
        signature = (name, rules = Rules::default(), *, tables = None, book = true, threads = None, memory = MEMORY),
        text_signature = "(name, rules='empty-capture', *, tables=None, book=True, threads=None, memory=268435456)"
    )]
    fn new(
        name: &str,
        rules: Rules,
        tables: Option<PyRef<'_, Tables>>,
        book: bool,
        threads: Option<u16>,
        memory: u64,
    ) -> PyResult<Player> {
        let text = name;
        let name: PlayerName =
            text.parse().map_err(|error: kalah::play::UnknownPlayer| ArgumentError::new_err(error.to_string()))?;
        // Without a seed, a random player plays other moves each time.
        let is_seeded = text.contains(':');
        let game = if is_seeded { 0 } else { fastrand::u64(..) };
        if memory > MEMORY {
            check_limit(memory, "the transposition table")?;
        }
        let (rules, pits) = (rules.0, tables.as_ref().map_or(6, |tables| tables.pits));
        let owner = shared(tables.as_deref(), rules, pits)?;
        let playing = Playing::new(owner, |tables| {
            let book = Book::shipped(rules, pits).filter(|_| book);
            name.player(&Setting {
                tables: tables.as_deref(),
                book,
                memory: SearchMemory::shared(None, memory),
                threads: number(threads),
                game,
                ..Setting::new(rules)
            })
        });
        let name = if is_seeded { name.to_string() } else { text.to_owned() };
        Ok(Player { playing: Mutex::new(playing), name, rules })
    }

    /// Returns the move to play in `position`, after at most about `seconds`. Without a limit, 'perfect'
    /// searches until the move is proved.
    ///
    /// Releases the interpreter's lock. Ctrl-C in the main thread ends the call. Raises IllegalMoveError if the
    /// game is over.
    #[pyo3(signature = (position, seconds = None))]
    fn choose<'py>(&self, py: Python<'py>, position: Position, seconds: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        let (Position(position), seconds) = (position, duration(seconds)?);
        if position.is_over() {
            return Err(IllegalMoveError::new_err("the game is over: there is no move to choose"));
        }
        let mut playing = self.playing.try_lock().map_err(|_| in_use())?;
        let playing = &mut *playing;
        let (start, cancel) = (Instant::now(), Cancel::new());
        let cancel = seconds.map_or_else(|| cancel.clone(), |seconds| cancel.within(seconds));
        let work = || playing.with_dependent_mut(|_, player| player.choose(&position, &cancel, &mut |_| ()));
        let choice = wait_for(py, work, &cancel, |_| Ok(()))?.or_raise()?;
        let (value, lower, upper, evaluation) = match choice.worth {
            Worth::Exact(value) => (Some(value), Some(value), Some(value), None),
            Worth::Bounds { lower, upper } => (None, Some(lower), Some(upper), None),
            Worth::Evaluation(evaluation) => (None, None, None, Some(evaluation)),
            Worth::Unknown => (None, None, None, None),
        };
        let (rules, name, seconds) = (self.rules, self.name.clone(), start.elapsed().as_secs_f64());
        let answer = move || MoveAnswer::new(rules, &position, name.clone(), &choice, seconds);
        let document = Document::new(move || serde_json::to_string(&answer()));
        let (number, source) = (choice.pit.number(), choice.source.name());
        result(py, "Choice", (number, value, lower, upper, evaluation, source, document))
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The rule set.
    #[getter]
    fn rules(&self) -> Rules {
        Rules(self.rules)
    }

    fn __repr__(&self) -> String {
        format!("<kalah.Player: {}, {}>", self.name, self.rules)
    }
}
