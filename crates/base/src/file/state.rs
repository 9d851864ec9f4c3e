use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use super::{DocumentError, LockError, OverwriteError};

/// The content of a state file, from which a later run continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateKind {
    /// A search.
    Checkpoint,
    /// The values of games.
    Values,
    /// The finished batches of a scan of openings.
    Scan,
    /// The finished tasks of the check of a certificate.
    Check,
    /// The layers whose scores are checked.
    Consistency,
    /// The statement of a proof directory.
    Proof,
    /// A finished job of a proof.
    Job,
}

/// Reasons why a state file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// Another process has it open.
    #[error("{0}")]
    Lock(#[from] LockError),
    /// It cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// It holds something else, or its first bytes are damaged.
    #[error("{path} cannot be used: {what}")]
    Foreign {
        /// Expected content.
        kind: StateKind,
        /// The file.
        path: PathBuf,
        /// The fault.
        what: String,
    },
    /// It is damaged.
    #[error("{path} cannot be used: {what}")]
    Damaged {
        /// Expected content.
        kind: StateKind,
        /// The file.
        path: PathBuf,
        /// The fault.
        what: String,
    },
    /// A line of it was changed, or contradicts the rules.
    #[error("{path}, line {line}: {what}")]
    DamagedLine {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The fault.
        what: String,
    },
    /// Another version of the program wrote it.
    #[error("{path} {what}")]
    Version {
        /// Content of the file.
        kind: StateKind,
        /// The file.
        path: PathBuf,
        /// True if the file's format is newer than this program.
        is_newer: bool,
        /// The version, as a predicate.
        what: String,
    },
    /// It belongs to other work.
    #[error("{path} {what}")]
    Other {
        /// Content of the file.
        kind: StateKind,
        /// The file.
        path: PathBuf,
        /// The other work, as a predicate.
        what: String,
    },
    /// It belongs to the same work by another program or with other inputs, and does not count.
    #[error("{path} {what}")]
    Stale {
        /// The file.
        path: PathBuf,
        /// The other program or inputs, as a predicate.
        what: String,
    },
}

impl StateError {
    /// Returns the error for a file that cannot be read or written.
    pub fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> StateError {
        let path = path.into();
        |source| StateError::Io { path, source }
    }

    /// Returns the error for a file that cannot be written, which a run would first read.
    pub fn writing(kind: StateKind, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> StateError {
        let path = path.into();
        move |source| match OverwriteError::is_foreign(&source) {
            true => {
                let what = "it is not a saved state of kalah, or it is damaged".to_owned();
                StateError::Foreign { kind, path, what }
            }
            false => StateError::Io { path, source },
        }
    }

    /// Returns the error for a damaged file.
    pub fn damaged(kind: StateKind, path: &Path, what: impl Display) -> StateError {
        StateError::Damaged { kind, path: path.to_owned(), what: what.to_string() }
    }

    /// Returns the error for a file that is not the document of its kind.
    pub fn document(kind: StateKind, path: &Path, error: &DocumentError) -> StateError {
        match error {
            DocumentError::Version { .. } => StateError::Version {
                kind,
                path: path.to_owned(),
                is_newer: error.is_newer(),
                what: format!("cannot be used: {error}"),
            },
            DocumentError::Foreign(_) => StateError::Foreign { kind, path: path.to_owned(), what: error.to_string() },
            _ => StateError::damaged(kind, path, error),
        }
    }

    /// Returns the error for a file of other work; `what` is a predicate: "belongs to the check of
    /// another certificate".
    pub fn other(kind: StateKind, path: &Path, what: String) -> StateError {
        StateError::Other { kind, path: path.to_owned(), what }
    }

    /// Returns true if the content is damaged or of another kind, rather than that of other work or
    /// of another version.
    pub fn is_damage(&self) -> bool {
        matches!(self, StateError::Foreign { .. } | StateError::Damaged { .. } | StateError::DamagedLine { .. })
    }

    /// Returns true if the file does not exist.
    pub fn is_missing(&self) -> bool {
        matches!(self, StateError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}
