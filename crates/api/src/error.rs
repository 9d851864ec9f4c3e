//! Errors of requests.

use std::fmt::Display;

use kalah_base::diagnostic::{Diagnostic, ErrorKind, NoCommands};
use kalah_core::cancel::Stopped;
use kalah_core::game::{ParseError, UnknownRules};
use kalah_core::table::{ProbeError, TableError};
use kalah_play::play::{PlayError, UnknownPlayer};
use kalah_play::record::RecordError;
use kalah_solve::book::BookError;
use kalah_solve::solve::SolveError;
use serde::Serialize;

/// Code by which programs distinguish errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Code {
    /// The query or the body lacks a field, or has one that cannot be read.
    Request,
    /// The board is not a position.
    Board,
    /// The rule set is unknown.
    Rules,
    /// The player is unknown.
    Player,
    /// The host of the request is not this server.
    Host,
    /// A page of another website sent the request.
    Origin,
    /// The tables are too small for a puzzle.
    NoPuzzle,
    /// The address is unknown.
    NotFound,
    /// Neither rules, tables nor book have the position's value.
    NotKnown,
    /// The address needs another method.
    Method,
    /// The client accepts no form of the answer.
    Encoding,
    /// The request did not arrive in time.
    Timeout,
    /// The body is too large.
    LargeBody,
    /// The address is too long.
    LongAddress,
    /// The position has too many seeds.
    LargePosition,
    /// There is no move to choose.
    GameOver,
    /// The moves are not a line of play from the position.
    Line,
    /// The text is not a game.
    Text,
    /// Two fields exclude each other.
    Conflict,
    /// The address and the headers are too long.
    LongHead,
    /// A table is damaged.
    DamagedTable,
    /// Another failure.
    Failed,
    /// There is not enough memory, in a browser.
    Memory,
    /// A table became shorter while it was in use, or its disk failed.
    UnreadableTable,
    /// The maximum number of searches is running.
    Busy,
    /// The server is stopping.
    Stopping,
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
    error: ApiError,
}

impl From<ApiError> for ErrorAnswer {
    fn from(error: ApiError) -> ErrorAnswer {
        ErrorAnswer { error }
    }
}

impl ApiError {
    /// Returns an error with this message.
    pub fn new(code: Code, message: impl Display) -> ApiError {
        ApiError { code, message: message.to_string() }
    }

    /// Returns the error of a request that cannot be read.
    pub fn request(why: impl Display) -> ApiError {
        ApiError::new(Code::Request, format_args!("cannot read the request: {why}"))
    }

    /// Returns the error of a failure that has no code of its own.
    pub fn failed(why: impl Display) -> ApiError {
        ApiError::new(Code::Failed, format_args!("the server failed: {why}"))
    }

    /// Returns the error of tables too small for a puzzle.
    pub fn no_puzzle() -> ApiError {
        ApiError::new(Code::NoPuzzle, "no puzzle was found: the server needs larger tables for this board")
    }

    /// Returns the error of a server that is stopping.
    pub fn stopping() -> ApiError {
        ApiError::new(Code::Stopping, "the server is stopping")
    }

    /// Returns the error of a move of a line, by its index.
    pub(crate) fn of_move(index: usize, text: impl Display, why: impl Display) -> ApiError {
        ApiError::new(Code::Line, format_args!("move {} of the line, '{text}': {why}", index + 1))
    }

    /// Returns the HTTP status.
    pub fn status(&self) -> u16 {
        match self.code {
            Code::Request | Code::Board | Code::Rules | Code::Player => 400,
            Code::Host | Code::Origin => 403,
            Code::NoPuzzle | Code::NotFound | Code::NotKnown => 404,
            Code::Method => 405,
            Code::Encoding => 406,
            Code::Timeout => 408,
            Code::LargeBody => 413,
            Code::LongAddress => 414,
            Code::LargePosition | Code::GameOver | Code::Line | Code::Text | Code::Conflict => 422,
            Code::LongHead => 431,
            Code::DamagedTable | Code::Failed | Code::Memory => 500,
            Code::UnreadableTable | Code::Busy | Code::Stopping => 503,
        }
    }

    /// Returns true if the error should be reported to the operator.
    pub fn is_of_server(&self) -> bool {
        matches!(self.code, Code::DamagedTable | Code::UnreadableTable | Code::Failed)
    }
}

macro_rules! from_mistakes {
    ($($error:ty => $code:ident),*) => {$(
        impl From<$error> for ApiError {
            fn from(error: $error) -> ApiError {
                ApiError::new(Code::$code, error)
            }
        }
    )*};
}

from_mistakes!(ParseError => Board, UnknownRules => Rules, UnknownPlayer => Player, RecordError => Text);

macro_rules! from_failures {
    ($($error:ty),*) => {$(
        impl From<$error> for ApiError {
            fn from(error: $error) -> ApiError {
                match error.diagnosis(&NoCommands).kind {
                    ErrorKind::Unreadable | ErrorKind::Table => ApiError::new(
                        Code::UnreadableTable,
                        format_args!("cannot read a table: {error}; repair the file, then restart the server"),
                    ),
                    ErrorKind::Damaged => {
                        ApiError::new(Code::DamagedTable, format_args!("a table is damaged: {error}"))
                    }
                    _ => ApiError::failed(error),
                }
            }
        }
    )*};
}

from_failures!(TableError, SolveError, ProbeError, BookError, PlayError);

impl From<Stopped> for ApiError {
    fn from(_: Stopped) -> ApiError {
        ApiError::stopping()
    }
}
