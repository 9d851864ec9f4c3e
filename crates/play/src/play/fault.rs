use std::time::Duration;

use kalah_base::printable::printable;
use kalah_core::game::{IllegalMove, Rules};

/// Maximum characters of an engine's line in a message.
const MAX_QUOTED: usize = 200;

/// Fault of an external engine, by which it loses the game.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineFault {
    /// The program cannot be started, with the system's reason.
    #[error("cannot be started: {0}")]
    Start(String),
    /// The program ended or closed its output, with its status.
    #[error("ended before the game was over ({0})")]
    Ended(String),
    /// It did not answer the greeting or get ready for a game within this time.
    #[error("was not ready within {} s", .0.as_secs_f64())]
    NotReady(Duration),
    /// It speaks another version of the protocol, given in its own words.
    #[error("speaks version '{}' of the protocol, not 1", printable(.0, MAX_QUOTED))]
    Version(String),
    /// It does not play the rule set.
    #[error("does not play by the rules {0}")]
    Rules(Rules),
    /// It had no move although its time was over and it was sent `stop`; the time that it took.
    #[error("exceeded its time: no move after {:.2} s", .0.as_secs_f64())]
    Overtime(Duration),
    /// A line was longer than this many bytes.
    #[error("sent a line of more than {0} bytes")]
    LongLine(usize),
    /// It does not read its input, and nothing more can be sent.
    #[error("does not read its input")]
    NotReading,
    /// Its move is not a pit; the move as written.
    #[error("sent the move '{}', which is not a pit", printable(.0, MAX_QUOTED))]
    NoPit(String),
    /// Its move is illegal.
    #[error("sent an illegal move: {0}")]
    Illegal(#[source] IllegalMove),
    /// It answered with an error, in its own words.
    #[error("reported an error: {}", printable(.0, MAX_QUOTED))]
    Reported(String),
}
