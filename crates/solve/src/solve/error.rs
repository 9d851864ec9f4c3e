use kalah_base::diagnostic::{Diagnosis, Diagnostic, ErrorKind, Outcome};
use kalah_base::system::OutOfMemory;
use kalah_core::cancel::Stopped;
use kalah_core::evaluation::NetworkError;
use kalah_core::file::InFile;
use kalah_core::game::{Bounds, MAX_PITS, Position, Rules};
use kalah_core::table::TableError;
use kalah_core::text::count;

use super::packed::MAX_BOARD_SEEDS;
use crate::book::BookError;

/// Error of a solver.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// The board is too large.
    #[error(
        "{} a side with {} in play cannot be searched: boards have up to {MAX_PITS} pits a side, \
         {MAX_BOARD_SEEDS} seeds in play, and less than 2^127 positions",
        count(*pits, "pit"), count(*seeds as usize, "seed")
    )]
    Board {
        /// Pits a side.
        pits: usize,
        /// Seeds in play.
        seeds: u32,
    },
    /// The tables, the bound tables, the network or the book are for another rule set or board.
    #[error(
        "{what} for {} with {}, not for {} with {}",
        found.0, count(found.1, "pit"), expected.0, count(expected.1, "pit")
    )]
    OtherBoard {
        /// Name of the data.
        what: &'static str,
        /// Their rule set and pits a side.
        found: (Rules, usize),
        /// Rule set and pits a side of the solver.
        expected: (Rules, usize),
    },
    /// There is not enough memory for the transposition table.
    #[error("{0}")]
    OutOfMemory(#[from] OutOfMemory),
    /// It was stopped, or [its time](super::Solver::within) ran out.
    #[error("stopped before the result was proved")]
    Stopped,
    /// A test [with a limit of nodes](super::Solver::test_within) reached it.
    #[error("not decided within {nodes} nodes")]
    NodeLimit {
        /// The limit.
        nodes: u64,
    },
    /// A depth-limited search exceeded its budget of nodes.
    #[error("a search to that depth takes too many nodes")]
    OverBudget,
    /// A table cannot be read.
    #[error("{0}")]
    Table(#[from] TableError),
    /// The network beside the tables cannot be used.
    #[error("{0}")]
    Network(#[from] InFile<NetworkError>),
    /// The book contradicts itself or the tables, or cannot contain a position.
    #[error("{0}")]
    Book(#[from] BookError),
    /// The book could not be saved.
    #[error("{0}")]
    BookFile(#[from] InFile<BookError>),
    /// Bounds contradict each other.
    #[error("the bounds of {0} contradict each other: a saved search, a book, a certificate or a table is wrong")]
    Contradiction(Box<Position>),
}

impl From<Stopped> for SolveError {
    fn from(_: Stopped) -> SolveError {
        SolveError::Stopped
    }
}

impl Diagnostic for SolveError {
    fn diagnosis(&self) -> Diagnosis {
        match self {
            SolveError::Board { .. } => Outcome::Usage.into(),
            SolveError::OutOfMemory(_) => {
                Outcome::Failed.help("choose a smaller --memory or --transpositions").of(ErrorKind::Memory)
            }
            SolveError::Contradiction(_) => Outcome::Wrong
                .help("check the tables with `kalah verify`, or search with --no-book and without --state and --from"),
            SolveError::Stopped => Outcome::Stopped.into(),
            SolveError::Table(error) => error.diagnosis(),
            SolveError::Network(error) => error.diagnosis(),
            SolveError::Book(error) => error.diagnosis(),
            SolveError::BookFile(error) => error.diagnosis(),
            _ => Outcome::Failed.into(),
        }
    }
}

impl SolveError {
    /// Returns the bounds of the score of `position`, or an error if they contradict each other.
    pub(super) fn unless_contradictory(position: &Position, bounds: Bounds) -> Result<Bounds, SolveError> {
        let sound = bounds.lower <= bounds.upper;
        sound.then_some(bounds).ok_or_else(|| SolveError::Contradiction(Box::new(*position)))
    }
}
