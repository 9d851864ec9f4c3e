use std::io;
use std::path::PathBuf;

use kalah_core::cancel::Stopped;
use kalah_core::game::Position;
use kalah_tables::file::StateError;
use kalah_tables::printable::signed;
use kalah_tables::table::TableError;

use crate::certificate::{Bound, CertificateError, ClaimError, StatementError};
use crate::solve::SolveError;

/// Why a proof did not get on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProveError {
    /// The solver cannot go on.
    #[error("{0}")]
    Solve(#[from] SolveError),
    /// A table cannot be read.
    #[error("{0}")]
    Table(#[from] TableError),
    /// A file of the proof directory cannot be used, or another process works in the directory and does not share it.
    #[error("{0}")]
    State(#[from] StateError),
    /// Two jobs, or a job and the tables, contradict each other.
    #[error("{path}: what it proves of {position} contradicts other jobs or the tables")]
    Contradiction {
        /// The job.
        path: PathBuf,
        /// The position.
        position: Box<Position>,
    },
    /// The certificate that was to be written does not prove what it states, or one of its claims does not follow.
    #[error("it does not follow from the claims of the finished jobs that the score of {position} is {bound}")]
    Unproved {
        /// The position.
        position: Box<Position>,
        /// The bound that does not follow.
        bound: Bound,
    },
    /// There is no proof in the directory.
    #[error("{0}: there is no proof in this directory")]
    Empty(PathBuf),
    /// No play can give the value.
    #[error(
        "the value of {position} cannot be {}: it is between {} and {}, and differs from these by an even number",
        signed(*value), signed(*least), signed(*most)
    )]
    Value {
        /// The position.
        position: Box<Position>,
        /// The value.
        value: i64,
        /// The least value.
        least: i64,
        /// The greatest one.
        most: i64,
    },
    /// A table has another digest than the one that the proof rests on.
    #[error("{0} is not the table that the proof rests on: its digest is another one")]
    OtherTable(PathBuf),
    /// The certificate cannot be read or written.
    #[error("{0}")]
    Certificate(#[from] CertificateError),
    /// There can be no certificate of it.
    #[error("{0}")]
    Statement(#[from] StatementError),
    /// A claim that no certificate can hold.
    #[error("{0}")]
    Claim(#[from] ClaimError),
    /// The certificate would rest on tables that are not there.
    #[error("the proof is to rest on tables to {wanted} seeds, and there are tables to {found} seeds")]
    Tables {
        /// The largest layer that was asked for.
        wanted: usize,
        /// The largest exact one in use.
        found: usize,
    },
}

impl From<Stopped> for ProveError {
    fn from(stopped: Stopped) -> ProveError {
        SolveError::from(stopped).into()
    }
}

impl ProveError {
    /// The error for a file that cannot be read or written.
    pub(super) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> ProveError {
        let path = path.into();
        |source| StateError::Io { path, source }.into()
    }

    /// Whether a job that proves something wrong can be the cause.
    pub(super) fn may_come_from_a_job(&self) -> bool {
        matches!(
            self,
            ProveError::Contradiction { .. }
                | ProveError::Unproved { .. }
                | ProveError::Solve(SolveError::Contradiction(_))
        )
    }

    /// Whether it is damage that was found.
    pub fn is_damage(&self) -> bool {
        match self {
            ProveError::State(error) => error.is_damage(),
            error => matches!(error, ProveError::Contradiction { .. } | ProveError::Unproved { .. }),
        }
    }
}
