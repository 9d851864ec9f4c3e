use std::fmt::Display;
use std::io;
use std::time::Duration;

use kalah_base::diagnostic::{Diagnosis, Diagnostic, Outcome};
use kalah_base::file::LockError;
use kalah_core::cancel::Stopped;
use kalah_core::table::TableError;

/// Maximum wait that a server can ask for. Requests that it answers with a longer one are not repeated.
const MOST_WAIT: Duration = Duration::from_secs(60);

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
    /// The server requires credentials, or refuses those of the environment.
    #[error("the server refuses access (status {status}){advice}")]
    Refused {
        /// The status.
        status: u16,
        /// The end of the message.
        advice: &'static str,
    },
    /// The server or store does not have the file.
    #[error("{0}")]
    NotFound(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Another status that is not a success.
    #[error("the server answered with status {status}{}", asks(*wait))]
    Status {
        /// The status.
        status: u16,
        /// The wait before the next try that the server asks for.
        wait: Option<Duration>,
    },
    /// The wait for the server was ended.
    #[error("{0}")]
    Stopped(#[from] Stopped),
    /// The server cannot be reached, the connection broke, or other bytes came than those requested.
    #[error("{0}")]
    Broken(String),
    /// The server or store cannot send a file that it may have.
    #[error("{0}")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A file of the server cannot be read.
    #[error("{url}: {source}")]
    File {
        /// The file.
        url: String,
        /// The reason.
        source: Box<RemoteError>,
    },
    /// A file on this machine, such as one of the cache, cannot be read or written, or the received one is damaged.
    #[error("{0}")]
    Table(#[from] TableError),
    /// Another process writes to the directory.
    #[error("{0}")]
    Lock(#[from] LockError),
    /// The address has no tables.
    #[error("there are no tables at {0}")]
    NoTables(String),
}

impl RemoteError {
    /// The error of other bytes than those requested.
    pub(crate) fn other(found: impl Display, expected: impl Display) -> RemoteError {
        RemoteError::Broken(format!("the server sent {found} where {expected} was requested"))
    }

    /// This error of reading the file at an address.
    pub(crate) fn of_file(self, url: String) -> RemoteError {
        match self {
            RemoteError::Stopped(_) | RemoteError::Table(_) => self,
            source => RemoteError::File { url, source: Box::new(source) },
        }
    }

    /// Returns true if the server does not have the [file](RemoteError::File).
    pub(crate) fn is_missing_file(&self) -> bool {
        matches!(self, RemoteError::File { source, .. } if matches!(**source, RemoteError::NotFound(_)))
    }

    /// Returns true if the same request may succeed later.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            RemoteError::Broken(_) => true,
            RemoteError::Status { status: 408 | 425 | 429 | 500 | 502..=504, wait } => {
                wait.is_none_or(|wait| wait <= MOST_WAIT)
            }
            _ => false,
        }
    }

    /// Returns true if the server does not have the file. Some servers refuse access to files that do not exist.
    pub(crate) fn is_absence(&self) -> bool {
        matches!(self, RemoteError::NotFound(_) | RemoteError::Refused { status: 403, .. })
    }
}

/// The end of a message about a server that may ask to wait.
fn asks(wait: Option<Duration>) -> String {
    wait.map_or_else(String::new, |wait| format!(", and asks to wait {} s", wait.as_secs()))
}

impl Diagnostic for RemoteError {
    fn diagnosis(&self) -> Diagnosis {
        match self {
            RemoteError::Stopped(error) => error.diagnosis(),
            RemoteError::File { source, .. } => source.diagnosis(),
            RemoteError::Table(error) => error.diagnosis(),
            RemoteError::Lock(error) => error.diagnosis(),
            _ => Outcome::Failed.into(),
        }
    }
}

impl From<RemoteError> for io::Error {
    fn from(error: RemoteError) -> io::Error {
        match error {
            RemoteError::Stopped(stopped) => io::Error::other(stopped),
            error => io::Error::other(error),
        }
    }
}
