use std::error::Error;
use std::io;

use kalah_base::diagnostic::{Diagnosis, Diagnostic, Outcome};
use kalah_base::file::LockError;
use kalah_core::cancel::Stopped;
use kalah_core::source::SourceError;
use kalah_core::table::TableError;

/// Reasons why files at an address cannot be read or downloaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The text is not an address of tables.
    #[error("{address} is not an address of tables: {reason}")]
    Address {
        /// The text.
        address: String,
        /// The fault.
        reason: &'static str,
    },
    /// The server or store does not have the file.
    #[error("{0}")]
    NotFound(#[source] Box<dyn Error + Send + Sync>),
    /// The wait for the server was ended.
    #[error("{0}")]
    Stopped(#[from] Stopped),
    /// The same request may succeed later: the server is busy or cannot be reached, or other bytes came.
    #[error("{0}")]
    Broken(String),
    /// The server or store cannot send a file that it may have.
    #[error("{0}")]
    Store(#[source] Box<dyn Error + Send + Sync>),
    /// A file on this machine, such as one of the cache, cannot be read or written, or the received one is damaged.
    #[error("{0}")]
    Table(#[from] TableError),
    /// Another process writes to the directory.
    #[error("{0}")]
    Lock(#[from] LockError),
    /// The address has no tables.
    #[error("there are no tables at {0}, or access is refused")]
    NoTables(String),
}

impl Diagnostic for RemoteError {
    fn diagnosis(&self) -> Diagnosis {
        match self {
            RemoteError::Stopped(error) => error.diagnosis(),
            RemoteError::Table(error) => error.diagnosis(),
            RemoteError::Lock(error) => error.diagnosis(),
            _ => Outcome::Failed.into(),
        }
    }
}

impl From<RemoteError> for SourceError {
    fn from(error: RemoteError) -> SourceError {
        match error {
            RemoteError::Stopped(stopped) => stopped.into(),
            error => io::Error::other(error).into(),
        }
    }
}
