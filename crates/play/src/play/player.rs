use std::fmt;
use std::time::Duration;

use kalah_base::diagnostic::{Diagnosis, Diagnostic, Outcome};
use kalah_base::printable::signed;
use kalah_core::cancel::{Cancel, Stopped};
use kalah_core::game::{Pit, Position, Rules};
use kalah_core::table::{BoundTables, TableError, Tables};
use kalah_proof::certificate::StrategyError;
use kalah_solve::book::{Book, BookError};
use kalah_solve::solve::{SearchMemory, SolveError, SolverOptions};

/// Error of a player.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// There is no move.
    #[error("the game is over: there is no move to choose")]
    GameOver,
    /// It was stopped.
    #[error("stopped before the game was over")]
    Stopped,
    /// An external engine has a fault and loses the game.
    #[error("{player} {fault}")]
    Engine {
        /// The engine.
        player: String,
        /// The fault, as in "ended before the game was over".
        fault: String,
    },
    /// A table cannot be read.
    #[error("{0}")]
    Table(#[from] TableError),
    /// The book is damaged or wrong.
    #[error("{0}")]
    Book(#[from] BookError),
    /// The certificate does not hold, or is for another board.
    #[error("{0}")]
    Certificate(#[from] StrategyError),
    /// The solver failed.
    #[error("{0}")]
    Solve(#[from] SolveError),
}

impl Diagnostic for PlayError {
    fn diagnosis(&self) -> Diagnosis {
        match self {
            PlayError::Stopped => Outcome::Stopped.into(),
            PlayError::Table(error) => error.diagnosis(),
            PlayError::Book(error) => error.diagnosis(),
            PlayError::Certificate(error) => error.diagnosis(),
            PlayError::Solve(error) => error.diagnosis(),
            _ => Outcome::Failed.into(),
        }
    }
}

impl From<Stopped> for PlayError {
    fn from(_: Stopped) -> PlayError {
        PlayError::Stopped
    }
}

/// Chooses moves.
///
/// The mover of a position is South. A player chooses every move separately, again-moves too. Results of
/// earlier positions may save it time. They do not change its choice, except for a random player, and for a
/// search that is stopped.
pub trait Player: Send {
    /// Its name, as [`super::PlayerName`] parses it.
    fn name(&self) -> String;

    /// Gets ready for a game from `start`: one-time work is done before the time of a move begins. If `cancel`
    /// is cancelled, it is postponed.
    ///
    /// # Errors
    /// If tables or memory fail.
    fn prepare(&mut self, start: &Position, cancel: &Cancel) -> Result<(), PlayError> {
        let _ = (start, cancel);
        Ok(())
    }

    /// Chooses the move to play in `position`. Players that have a move early pass it to `report`, and each
    /// better one, before they return the last. If `cancel` is cancelled, they return the best move so far,
    /// always a legal one.
    ///
    /// Players of a fixed depth then return the choice of a search to depth 1. With a deadline, they search
    /// deeper step by step until then.
    ///
    /// # Errors
    /// If the game is over, or tables or memory fail.
    fn choose(
        &mut self,
        position: &Position,
        cancel: &Cancel,
        report: &mut dyn FnMut(&Choice),
    ) -> Result<Choice, PlayError>;

    /// Chooses as [`Player::choose`] does, for about `slice`; `None` if it is not done then. The next call for the
    /// same position goes on. For programs with one thread, which do other work meanwhile.
    ///
    /// # Errors
    /// As [`Player::choose`].
    fn choose_for(
        &mut self,
        slice: Duration,
        position: &Position,
        cancel: &Cancel,
    ) -> Result<Option<Choice>, PlayError> {
        let _ = slice;
        self.choose(position, cancel, &mut |_| ()).map(Some)
    }
}

/// A move with its worth and its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The move.
    pub pit: Pit,
    /// Value of the move for the mover, as far as the player has found it.
    pub worth: Worth,
    /// Source of the move.
    pub source: Source,
}

/// Worth of a move, as final store differences for the mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worth {
    /// Proved: the value, which no other move exceeds.
    Exact(i64),
    /// Proved: the value of the move is at least `lower`, and that of every move at most `upper`.
    Bounds {
        /// Lower bound of the move.
        lower: i64,
        /// Upper bound of the position.
        upper: i64,
    },
    /// Not proved: the player's evaluation, which need not be a store difference.
    Evaluation(i64),
    /// The player does not evaluate moves.
    Unknown,
}

/// Source of a player's move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// By the tables.
    Tables,
    /// By the book.
    Book,
    /// By the solver, above the tables.
    Solver,
    /// By a bound that the solver proved before the limit.
    Bound,
    /// By a search to this depth: moves or turns, as the player counts.
    Depth(u32),
    /// By a named heuristic rule.
    Rule(&'static str),
    /// The only move.
    OnlyMove,
    /// By the claims of a certificate.
    Certificate,
    /// From an external engine. Even a worth reported as proved is only the engine's claim.
    Engine,
}

impl Source {
    /// The name in JSON; for a rule, the name of the rule.
    pub fn name(self) -> &'static str {
        match self {
            Source::Tables => "tables",
            Source::Book => "book",
            Source::Solver => "solver",
            Source::Bound => "bound",
            Source::Depth(_) => "depth",
            Source::Rule(rule) => rule,
            Source::OnlyMove => "only-move",
            Source::Certificate => "certificate",
            Source::Engine => "engine",
        }
    }
}

impl fmt::Display for Worth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Worth::Exact(value) => write!(f, "value {}", signed(*value)),
            Worth::Bounds { lower, upper } => write!(f, "proved {} to {}", signed(*lower), signed(*upper)),
            Worth::Evaluation(value) => write!(f, "evaluation {}", signed(*value)),
            Worth::Unknown => f.write_str("no evaluation"),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Tables => f.write_str("from the tables"),
            Source::Book => f.write_str("from the book"),
            Source::Solver => f.write_str("proved by the solver"),
            Source::Bound => f.write_str("the best bound so far"),
            Source::Depth(depth) => write!(f, "searched to depth {depth}"),
            Source::Rule(rule) => write!(f, "by {rule}"),
            Source::OnlyMove => f.write_str("the only move"),
            Source::Certificate => f.write_str("by the certificate"),
            Source::Engine => f.write_str("by the engine's word"),
        }
    }
}

/// Settings of players.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'t> {
    /// The rule set.
    pub rules: Rules,
    /// Tables of these rules, for the perfect player.
    pub tables: Option<&'t Tables>,
    /// Bound tables of these rules, for its solver above the tables.
    pub bounds: Option<&'t BoundTables>,
    /// The book of these rules, for the perfect player on boards with the same number of pits.
    pub book: Option<&'t Book>,
    /// Memory of each solver.
    pub memory: SearchMemory,
    /// Threads of a solver, at least 1.
    pub threads: usize,
    /// Makes random players with the same seed play differently: the number of a game, for instance.
    pub game: u64,
}

impl<'t> Setting<'t> {
    /// No tables, no book, one thread, the default of [`SearchMemory::shared`].
    #[must_use]
    pub fn new(rules: Rules) -> Setting<'t> {
        let memory = SearchMemory::shared(None, SearchMemory::SHARED_TRANSPOSITIONS);
        Setting { rules, tables: None, bounds: None, book: None, memory, threads: 1, game: 0 }
    }

    /// The options of a solver for `position`, with the tables and the book if they are for its number of pits, and
    /// without tables that do not fit the memory.
    #[must_use]
    pub fn solver_options(&self, position: &Position) -> SolverOptions<'t> {
        let pits = position.pits();
        SolverOptions::new(self.rules, position)
            .tables(self.tables.filter(|tables| tables.pits() == pits))
            .bounds(self.bounds.filter(|bounds| bounds.pits() == pits))
            .book(self.book.filter(|book| book.pits() == pits))
            .memory(self.memory)
            .threads(self.threads)
            .within_memory()
    }
}
