use std::io;
use std::path::PathBuf;

use kalah_base::diagnostic::{Diagnosis, Diagnostic, Outcome};
use kalah_base::file::{LockError, StateError};
use kalah_base::printable::signed;
use kalah_core::cancel::Stopped;
use kalah_core::game::{Position, ValueBounds};
use kalah_core::table::TableError;
use kalah_solve::solve::SolveError;

use crate::certificate::{CertificateError, CheckError, Statement, StatementError};

/// Error of a proof.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProveError {
    /// The solver failed or was stopped, or a table cannot be read.
    #[error("{0}")]
    Solve(#[from] SolveError),
    /// A file of the proof directory cannot be used, or another process uses the directory alone.
    #[error("{0}")]
    State(#[from] StateError),
    /// The certificate cannot be read or written.
    #[error("{0}")]
    Certificate(#[from] CertificateError),
    /// The request is impossible or true of every game, or cannot be that of a certificate.
    #[error("{0}")]
    Request(String),
    /// A table that the proof rests on is missing or another one.
    #[error("{0}")]
    Tables(String),
    /// Jobs contradict each other or the tables, or their claims do not prove the statement.
    #[error("{0}")]
    Wrong(String),
}

impl From<Stopped> for ProveError {
    fn from(stopped: Stopped) -> ProveError {
        SolveError::from(stopped).into()
    }
}

impl From<TableError> for ProveError {
    fn from(error: TableError) -> ProveError {
        SolveError::from(error).into()
    }
}

impl From<StatementError> for ProveError {
    fn from(error: StatementError) -> ProveError {
        ProveError::Request(error.to_string())
    }
}

impl From<CheckError> for ProveError {
    fn from(error: CheckError) -> ProveError {
        match error {
            CheckError::Stopped(stopped) => stopped.into(),
            CheckError::Table(error) => error.into(),
            error => ProveError::Wrong(format!("the claims of the finished jobs do not prove it: {error}")),
        }
    }
}

impl Diagnostic for ProveError {
    fn diagnosis(&self) -> Diagnosis {
        match self {
            ProveError::Request(_) => Outcome::Usage.into(),
            ProveError::Wrong(_) => Outcome::Wrong.help(
                "every job follows by itself, so check the tables (`kalah verify`) and the memory of this machine",
            ),
            ProveError::Tables(_) => {
                Outcome::Failed.help("name the tables of the proof with --tables, or begin another proof")
            }
            ProveError::State(error) => {
                let known = error.diagnosis();
                match error {
                    StateError::Damaged { .. } => known.outcome.help(
                        "delete this file and give the first command of the proof again: finished jobs are used if \
                         the plan is the same",
                    ),
                    StateError::Version { .. } | StateError::Foreign { .. } | StateError::Other { .. } => {
                        known.outcome.help("choose another directory with --proof")
                    }
                    StateError::Lock(LockError::Held { .. }) => {
                        known.outcome.help("wait for it, or give --share to all processes")
                    }
                    StateError::Lock(LockError::Unsupported { .. }) => {
                        known.outcome.help("give --share, which needs no locks")
                    }
                    _ => known,
                }
            }
            ProveError::Solve(error) => error.diagnosis(),
            ProveError::Certificate(error) => error.diagnosis(),
        }
    }
}

impl ProveError {
    /// Returns a function that makes the error for a file that cannot be read or written.
    pub(super) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> ProveError {
        let path = path.into();
        |source| StateError::Io { path, source }.into()
    }

    /// The error of a request or statement that is true of every game from `position`.
    pub(super) fn trivial(position: &Position) -> ProveError {
        let ValueBounds { lower, upper } = Statement::all_values(position);
        ProveError::Request(format!(
            "there is nothing to prove: every game from {position} has a value from {} to {}",
            signed(lower),
            signed(upper)
        ))
    }

    /// The error of a proof that should rest on tables to `wanted` seeds, if there are tables to `found` seeds.
    pub fn missing_tables(wanted: usize, found: usize) -> ProveError {
        ProveError::Tables(format!(
            "the proof should rest on tables to {wanted} seeds, but there are tables only to {found} seeds"
        ))
    }

    /// Returns true if a wrong job can be the cause.
    pub(super) fn may_come_from_a_job(&self) -> bool {
        matches!(self, ProveError::Wrong(_) | ProveError::Solve(SolveError::Contradiction(_)))
    }
}
