//! The class `Player`.

use std::sync::{Arc, Mutex};

use kalah::book::Book;
use kalah::cancel::Cancel;
use kalah::game::Rules as GameRules;
use kalah::play::{Choice as GameChoice, Player as GamePlayer, PlayerName, Setting, Worth};
use kalah::table::Tables as OpenTables;
use pyo3::prelude::*;
use self_cell::self_cell;

use crate::argument::{Integer, Seconds, Text};
use crate::errors::OrRaise;
use crate::errors::python::ArgumentError;
use crate::memory::check_limit;
use crate::pickling::{Parts, parts};
use crate::position::PositionArgument;
use crate::rules::{Rules, RulesArgument};
use crate::solver::{in_use, shared};
use crate::tables::Tables;
use crate::waiting::{ThreadsArgument, number, wait_for};

/// Default bytes of the transposition table.
const MEMORY: u64 = 256 << 20;

/// A move that a player chose. Choices can be compared, hashed and pickled.
#[pyclass(module = "kalah", frozen, get_all, eq, hash)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Choice {
    /// The move: the number of a pit from 1.
    r#move: usize,
    /// The proved final store difference for the mover, or None. Only with a proved value is it certain that no
    /// other move is better.
    value: Option<i64>,
    /// Proved lower bound of the value of the move.
    lower: Option<i64>,
    /// Proved upper bound of the value of every move.
    upper: Option<i64>,
    /// The player's evaluation of the move, which proves nothing.
    evaluation: Option<i64>,
    /// Source of the choice: 'tables', 'book', 'solver', 'bound', 'depth', 'only-move', or the name of a rule.
    source: String,
}

/// Parts of a pickled choice.
type ChoiceParts = (usize, Option<i64>, Option<i64>, Option<i64>, Option<i64>, String);

#[pymethods]
impl Choice {
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Parts<'py, ChoiceParts>> {
        let &Choice { r#move, value, lower, upper, evaluation, .. } = self;
        parts::<Choice, _>(py, (r#move, value, lower, upper, evaluation, self.source.clone()))
    }

    #[staticmethod]
    #[pyo3(signature = (r#move, value, lower, upper, evaluation, source))]
    fn _of(
        r#move: usize,
        value: Option<i64>,
        lower: Option<i64>,
        upper: Option<i64>,
        evaluation: Option<i64>,
        source: String,
    ) -> Choice {
        Choice { r#move, value, lower, upper, evaluation, source }
    }

    fn __repr__(&self) -> String {
        let number =
            |name: &str, value: Option<i64>| value.map_or(String::new(), |value| format!(", {name}={value:+}"));
        let (value, lower) = (number("value", self.value), number("lower", self.lower));
        let (upper, evaluation) = (number("upper", self.upper), number("evaluation", self.evaluation));
        format!("Choice(move={}{value}{lower}{upper}{evaluation}, source='{}')", self.r#move, self.source)
    }
}

impl From<GameChoice> for Choice {
    fn from(choice: GameChoice) -> Choice {
        let (mut value, mut lower, mut upper, mut evaluation) = (None, None, None, None);
        match choice.worth {
            Worth::Exact(exact) => (value, lower, upper) = (Some(exact), Some(exact), Some(exact)),
            Worth::Bounds { lower: least, upper: most } => (lower, upper) = (Some(least), Some(most)),
            Worth::Evaluation(found) => evaluation = Some(found),
            Worth::Unknown => {}
        }
        let source = choice.source.name().to_owned();
        Choice { r#move: choice.pit.number(), value, lower, upper, evaluation, source }
    }
}

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
pub struct Player {
    playing: Mutex<Playing>,
    name: String,
    rules: GameRules,
}

#[pymethods]
impl Player {
    #[new]
    #[pyo3(
        signature = (
            name, rules = RulesArgument::default(), *, tables = None, book = true, threads = None,
            memory = Integer::from(MEMORY)
        ),
        text_signature = "(name, rules='empty-capture', *, tables=None, book=True, threads=None, memory=268435456)"
    )]
    fn new(
        name: Text,
        rules: RulesArgument,
        tables: Option<PyRef<'_, Tables>>,
        book: bool,
        threads: Option<ThreadsArgument>,
        memory: Integer,
    ) -> PyResult<Player> {
        let Text(text) = name;
        let name: PlayerName =
            text.parse().map_err(|error: kalah::play::UnknownPlayer| ArgumentError::new_err(error.to_string()))?;
        // Without a seed, a random player plays other moves each time.
        let is_seeded = text.contains(':');
        let game = if is_seeded { 0 } else { fastrand::u64(..) };
        let memory = memory.at_least("memory", 0, u64::MAX)?;
        if memory > MEMORY {
            check_limit(memory, "the transposition table")?;
        }
        let (rules, pits) = (rules.0, tables.as_ref().map_or(6, |tables| tables.opened.pits));
        let owner = shared(tables.as_deref(), rules, pits)?;
        let playing = Playing::new(owner, |tables| {
            let book = Book::shipped(rules, pits).filter(|_| book);
            let setting = Setting::new(rules).tables(tables.as_deref()).book(book).memory(memory).game(game);
            name.player(&setting.threads(number(threads)))
        });
        let name = if is_seeded { name.to_string() } else { text };
        Ok(Player { playing: Mutex::new(playing), name, rules })
    }

    /// Returns the move to play in `position`, after at most about `seconds`. Without a limit, 'perfect'
    /// searches until the move is proved.
    ///
    /// Releases the interpreter's lock. Ctrl-C in the main thread ends the call. Raises IllegalMoveError if the
    /// game is over.
    #[pyo3(signature = (position, seconds = None))]
    fn choose(&self, py: Python<'_>, position: PositionArgument, seconds: Option<Seconds>) -> PyResult<Choice> {
        let mut playing = self.playing.try_lock().map_err(|_| in_use())?;
        let playing = &mut *playing;
        let cancel = Cancel::new();
        let cancel = seconds.map_or_else(|| cancel.clone(), |seconds| cancel.within(seconds.0));
        let work = || playing.with_dependent_mut(|_, player| player.choose(&position.0, &cancel, &mut |_| ()));
        let choice = wait_for(py, work, &cancel, |_| Ok(()))?.or_raise()?;
        Ok(choice.into())
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
