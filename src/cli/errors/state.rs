//! Advice for checkpoints, proofs, checks and other work that is kept in files.

use kalah::certificate::StrategyError;
use kalah::file::{LockError, StateError};
use kalah::prove::ProveError;

/// Returns advice for a file of unfinished work: to delete it only if it is certainly damaged and of this program.
pub fn of_state(error: &StateError) -> Option<&'static str> {
    match error {
        StateError::Foreign { .. } | StateError::Other { .. } | StateError::Version { is_newer: false, .. } => {
            Some("choose another file with --state")
        }
        StateError::Version { .. } => Some("use that version of kalah, or choose another file with --state"),
        StateError::Damaged { line: None, .. } => Some("delete it to start over, or choose another file with --state"),
        StateError::Damaged { .. } => Some("delete the line to do its part again, or choose another file with --state"),
        _ => None,
    }
}

/// Returns advice for a proof.
pub fn of_prove(error: &ProveError) -> Option<&'static str> {
    match error {
        ProveError::Contradiction { .. } => Some("delete this file to run the job again"),
        ProveError::State(StateError::Damaged { .. }) => Some(
            "delete this file and give the first command of the proof again: finished jobs are used if the plan is \
             the same",
        ),
        ProveError::State(StateError::Version { .. }) => {
            Some("use that version of kalah, or another directory with --proof")
        }
        ProveError::State(StateError::Foreign { .. } | StateError::Other { .. }) => {
            Some("choose another directory with --proof")
        }
        ProveError::Unproved { .. } => Some(
            "no certificate was written; every job follows by itself, so check the tables (`kalah verify`) and the \
             memory of this machine",
        ),
        ProveError::OtherTable(_) => {
            Some("use the tables with which the proof was begun (--tables), or begin another proof")
        }
        ProveError::Empty(_) => Some("start one with `kalah prove POSITION --proof DIR`"),
        ProveError::State(StateError::Lock(LockError::Held { .. })) => {
            Some("wait for it, or give --share to all processes")
        }
        ProveError::State(StateError::Lock(LockError::Unsupported { .. })) => {
            Some("give --share, which needs no locks")
        }
        ProveError::Tables { .. } => Some(
            "build them with `kalah build --seeds N`, do not exclude them, or begin a proof with a smaller --rests-on",
        ),
        _ => None,
    }
}

/// Returns advice for a certificate that cannot choose moves.
pub fn of_strategy(error: &StrategyError) -> Option<&'static str> {
    match error {
        StrategyError::Effort(_) => {
            Some("make one without searches: `kalah prove --from FILE --effort 0 --proof DIR --certificate NEW`")
        }
        StrategyError::Wrong(_) => Some("find the first wrong claim with `kalah check`"),
        _ => None,
    }
}
