use std::io;
use std::path::PathBuf;

use kalah_base::diagnostic::{Commands, Diagnosis, Diagnostic, Outcome};
use kalah_base::file::{LockError, StateError};
use kalah_base::printable::signed;
use kalah_core::cancel::Stopped;
use kalah_core::game::{Position, ValueBounds};
use kalah_core::table::TableError;
use kalah_solve::solve::SolveError;

use crate::certificate::{Bound, CertificateError, Statement, StatementError};

/// Error of a proof.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProveError {
    /// The solver failed or was stopped.
    #[error("{0}")]
    Solve(#[from] SolveError),
    /// A table cannot be read.
    #[error("{0}")]
    Table(#[from] TableError),
    /// A file of the proof directory cannot be used, or another process uses the directory alone.
    #[error("{0}")]
    State(#[from] StateError),
    /// Two jobs, or a job and the tables, contradict each other.
    #[error("{path}: its bounds of {position} contradict other jobs or the tables")]
    Contradiction {
        /// The job.
        path: PathBuf,
        /// The position.
        position: Box<Position>,
    },
    /// The certificate does not prove its statement, or one of its claims does not follow.
    #[error("the claims of the finished jobs do not prove that the score of {position} is {bound}")]
    Unproved {
        /// The position.
        position: Box<Position>,
        /// The bound that does not follow.
        bound: Bound,
    },
    /// The directory contains no proof.
    #[error("{0}: there is no proof in this directory")]
    Empty(PathBuf),
    /// The value is impossible, or the request is true of every game from the position.
    #[error("{0}")]
    Request(String),
    /// A table differs from the one that the proof rests on.
    #[error("{0} is not the table that the proof rests on: its digest differs")]
    OtherTable(PathBuf),
    /// The certificate cannot be read or written.
    #[error("{0}")]
    Certificate(#[from] CertificateError),
    /// The statement cannot be that of a certificate.
    #[error("{0}")]
    Statement(#[from] StatementError),
    /// The tables that the certificate should rest on do not exist.
    #[error("the proof should rest on tables to {wanted} seeds, but there are tables only to {found} seeds")]
    Tables {
        /// The largest layer requested.
        wanted: usize,
        /// The largest exact layer in use.
        found: usize,
    },
}

impl From<Stopped> for ProveError {
    fn from(stopped: Stopped) -> ProveError {
        SolveError::from(stopped).into()
    }
}

impl Diagnostic for ProveError {
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        match self {
            ProveError::Request(_) | ProveError::Statement(_) => Outcome::Usage.into(),
            ProveError::Contradiction { .. } => Outcome::Wrong.help("delete this file to run the job again"),
            ProveError::Unproved { .. } => Outcome::Wrong.help(
                "no certificate was written; every job follows by itself, so check the tables (`kalah verify`) and the \
                 memory of this machine",
            ),
            ProveError::OtherTable(_) => {
                Outcome::Failed.help("use the tables with which the proof was begun (--tables), or begin another proof")
            }
            ProveError::Empty(_) => Outcome::Failed.help("start one with `kalah prove POSITION --proof DIR`"),
            ProveError::Tables { .. } => Outcome::Failed.help(
                "build them with `kalah build --seeds N`, do not exclude them, or begin a proof with a smaller \
                 --rests-on",
            ),
            ProveError::State(error) => {
                let known = error.diagnosis(commands);
                match error {
                    StateError::Damaged { .. } => known.outcome.help(
                        "delete this file and give the first command of the proof again: finished jobs are used if \
                         the plan is the same",
                    ),
                    StateError::Version { .. } => {
                        known.outcome.help("use that version of kalah, or another directory with --proof")
                    }
                    StateError::Foreign { .. } | StateError::Other { .. } => {
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
            ProveError::Solve(error) => error.diagnosis(commands),
            ProveError::Table(error) => error.diagnosis(commands),
            ProveError::Certificate(error) => error.diagnosis(commands),
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

    /// Returns true if a wrong job can be the cause.
    pub(super) fn may_come_from_a_job(&self) -> bool {
        matches!(
            self,
            ProveError::Contradiction { .. }
                | ProveError::Unproved { .. }
                | ProveError::Solve(SolveError::Contradiction(_))
        )
    }
}
