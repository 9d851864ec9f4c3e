//! Advice for checkpoints, proofs, checks and other work that is kept in files.

use kalah::certificate::{CheckError, StrategyError};
use kalah::file::{LockError, StateError, StateKind};
use kalah::prove::ProveError;

/// Returns advice for a file of state. Only one that is certainly of this program and damaged is to be deleted.
pub fn of_state(error: &StateError) -> Option<&'static str> {
    match error {
        StateError::Foreign { kind, .. } => Some(match kind {
            StateKind::Checkpoint => "choose another file",
            StateKind::Proof | StateKind::Job => "choose another directory with --proof",
            _ => "choose another file with --state",
        }),
        StateError::Damaged { kind, .. } => Some(match kind {
            StateKind::Checkpoint => "choose another file, or delete this one to start over",
            StateKind::Check => "delete it to check all claims again, or choose another file with --state",
            StateKind::Proof => {
                "delete it and repeat the first command of the proof: finished jobs are used if the plan is the same"
            }
            StateKind::Job => "delete this file to run the job again",
            _ => "delete it to start over, or choose another file with --state",
        }),
        // The first line identifies the scan.
        StateError::DamagedLine { line: 1, .. } => Some("choose another file with --state"),
        StateError::DamagedLine { .. } => {
            Some("delete the line to scan its games again, or choose another file with --state")
        }
        StateError::Version { kind, is_newer: true, .. } => Some(match kind {
            StateKind::Checkpoint => "use that version of kalah, or choose another file with --checkpoint",
            StateKind::Proof | StateKind::Job => "use that version of kalah, or another directory with --proof",
            _ => "use that version of kalah, or choose another file with --state",
        }),
        StateError::Version { kind, .. } => Some(match kind {
            StateKind::Checkpoint => "choose another file with --checkpoint",
            StateKind::Proof | StateKind::Job => "use that version of kalah, or another directory with --proof",
            _ => "choose another file with --state",
        }),
        StateError::Other { kind, .. } => Some(match kind {
            StateKind::Checkpoint => "choose another file with --checkpoint",
            StateKind::Scan => {
                "give the same --rules, --turns, --positions and --wins, or choose another file with --state"
            }
            StateKind::Proof | StateKind::Job => "choose another directory with --proof",
            _ => "choose another file with --state",
        }),
        StateError::Stale { .. } => Some("its results do not apply to this check: choose another file with --state"),
        _ => None,
    }
}

/// Returns advice for a proof.
pub fn of_prove(error: &ProveError) -> Option<&'static str> {
    match error {
        ProveError::Contradiction { .. } => Some("delete this file to run the job again"),
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

/// Returns advice for a check of a certificate that cannot go on.
pub fn of_check(error: &CheckError) -> Option<&'static str> {
    matches!(error, CheckError::Changed { .. })
        .then_some("repeat the check while no process writes to the tables or the certificate")
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
