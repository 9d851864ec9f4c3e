use std::time::Duration;

use kalah_core::cancel::{Cancel, Stopped};
use kalah_core::game::{IllegalMove, Position};
use kalah_core::table::TableError;
use kalah_solve::book::BookError;
use kalah_solve::certificate::StrategyError;
use kalah_solve::solve::SolveError;

use super::Choice;
use super::fault::EngineFault;

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
    /// A player chose an illegal move.
    #[error("{player} chose move {source}")]
    Illegal {
        /// The player.
        player: String,
        /// The reason.
        source: IllegalMove,
    },
    /// An external engine has a fault and loses the game.
    #[error("{player} {fault}")]
    Engine {
        /// The engine.
        player: String,
        /// The fault.
        #[source]
        fault: EngineFault,
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
