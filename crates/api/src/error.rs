//! Errors of requests.

use std::fmt::Display;

use kalah_base::diagnostic::{Diagnostic, ErrorKind, Outcome};
use kalah_core::cancel::Stopped;
use kalah_core::game::IllegalMove;
use kalah_core::table::{ProbeError, TableError};
use kalah_play::play::PlayError;
use kalah_solve::book::BookError;
use kalah_solve::solve::SolveError;
use serde::Serialize;

/// Code by which programs distinguish errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// The request cannot be read, or asks for something impossible.
    Request,
    /// The host is not this server, or a page of another website sent the request.
    Forbidden,
    /// The address is unknown, or there is no puzzle or no value without a search.
    NotFound,
    /// The address needs another method.
    Method,
    /// The request did not arrive in time.
    Timeout,
    /// The body is too large.
    TooLarge,
    /// A table is damaged.
    DamagedTable,
    /// Another failure.
    Failed,
    /// A table became shorter while it was in use, or its disk failed.
    UnreadableTable,
    /// The maximum number of searches is running, or the server is stopping.
    Busy,
}

/// Error of a request.
#[derive(Clone, Debug, Serialize, thiserror::Error)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[error("{message}")]
pub struct ApiError {
    /// Code by which programs distinguish errors.
    pub code: Code,
    message: String,
}

/// Answer to a request that is refused, or that failed.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ErrorAnswer {
    /// The error.
    pub error: ApiError,
}

impl ApiError {
    /// Returns an error with this message.
    pub fn new(code: Code, message: impl Display) -> ApiError {
        ApiError { code, message: message.to_string() }
    }

    /// Returns the error of a wrong request.
    pub fn request(why: impl Display) -> ApiError {
        ApiError::new(Code::Request, why)
    }

    /// Returns the error of a move of a line, which has this index.
    pub(crate) fn of_move((index, why): (usize, IllegalMove)) -> ApiError {
        ApiError::request(format_args!("move {}: {why}", index + 1))
    }

    /// Returns the error of a failure that has no code of its own.
    pub fn failed(why: impl Display) -> ApiError {
        ApiError::new(Code::Failed, why)
    }

    /// Returns the HTTP status.
    pub fn status(&self) -> u16 {
        match self.code {
            Code::Request => 400,
            Code::Forbidden => 403,
            Code::NotFound => 404,
            Code::Method => 405,
            Code::Timeout => 408,
            Code::TooLarge => 413,
            Code::DamagedTable | Code::Failed => 500,
            Code::UnreadableTable | Code::Busy => 503,
        }
    }

    /// Returns true if the error should be reported to the operator.
    pub fn is_of_server(&self) -> bool {
        matches!(self.code, Code::DamagedTable | Code::UnreadableTable | Code::Failed)
    }
}

macro_rules! from_failures {
    ($($error:ty),*) => {$(
        impl From<$error> for ApiError {
            fn from(error: $error) -> ApiError {
                let diagnosis = error.diagnosis();
                let code = match diagnosis.kind {
                    ErrorKind::Unreadable | ErrorKind::Table => Code::UnreadableTable,
                    ErrorKind::Damaged => Code::DamagedTable,
                    _ if diagnosis.outcome == Outcome::Stopped => Code::Busy,
                    _ => Code::Failed,
                };
                ApiError::new(code, error)
            }
        }
    )*};
}

from_failures!(TableError, SolveError, ProbeError, BookError, PlayError, Stopped);
