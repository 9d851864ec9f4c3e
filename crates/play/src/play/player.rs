use kalah_core::cancel::{Cancel, Stopped};
use kalah_core::game::{IllegalMove, Position};
use kalah_solve::book::BookError;
use kalah_solve::solve::SolveError;
use kalah_tables::table::TableError;

use super::Choice;
use super::fault::EngineFault;

/// Why a player has no move.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// There is none.
    #[error("the game is over: there is no move to choose")]
    GameOver,
    /// It was stopped.
    #[error("stopped before the game was over")]
    Stopped,
    /// A player chose what cannot be played.
    #[error("{player} chose move {source}")]
    Illegal {
        /// The player.
        player: String,
        /// Why it cannot be played.
        source: IllegalMove,
    },
    /// An external engine did something wrong: it loses the game.
    #[error("{player} {fault}")]
    Engine {
        /// The engine.
        player: String,
        /// What it did.
        #[source]
        fault: EngineFault,
    },
    /// A table cannot be read.
    #[error("{0}")]
    Table(#[from] TableError),
    /// The book is wrong.
    #[error("{0}")]
    Book(#[from] BookError),
    /// The solver failed.
    #[error("{0}")]
    Solve(#[from] SolveError),
}

impl From<Stopped> for PlayError {
    fn from(_: Stopped) -> PlayError {
        PlayError::Stopped
    }
}

/// Chooses moves.
///
/// The mover of a position is South. A player is asked for every single move, again-moves too. What it has learned from
/// earlier positions may save it time; except for a random player, and what a stop cuts short, it does not change its
/// choice.
pub trait Player: Send {
    /// Its name, as [`super::PlayerName`] reads it.
    fn name(&self) -> String;

    /// Gets ready for a game from `start`: what takes time once is done before the time of a move begins. When `cancel` is cancelled
    /// it is left for later.
    ///
    /// # Errors
    /// When tables or memory fail.
    fn prepare(&mut self, start: &Position, cancel: &Cancel) -> Result<(), PlayError> {
        let _ = (start, cancel);
        Ok(())
    }

    /// The move to play in `position`. Players that have a move early pass it to `tell`, and each better one, before they
    /// return the last; when `cancel` is cancelled they return the best they have, always a legal move.
    /// Players of a fixed depth then play the choice of a search to depth 1, unless there is a deadline, until which they search
    /// deeper step by step.
    ///
    /// # Errors
    /// When the game is over, or tables or memory fail.
    fn choose(
        &mut self,
        position: &Position,
        cancel: &Cancel,
        tell: &mut dyn FnMut(&Choice),
    ) -> Result<Choice, PlayError>;
}
