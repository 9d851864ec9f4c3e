//! Errors of requests, and limits of what a request may contain.

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

/// Maximum seeds in play of a position in a request.
pub(crate) const MAX_SEEDS: u32 = 400;

/// Maximum characters of a board literal.
pub(crate) const MAX_LITERAL: usize = 256;

/// Maximum moves of a line.
pub(crate) const MAX_MOVES: usize = 1000;

/// Maximum bytes of a request's address.
pub const MAX_ADDRESS: usize = 8192;

/// Maximum bytes of a request's body: that of 1000 positions, or of a long game with comments.
pub const MAX_BODY: usize = 64 << 10;

/// Maximum bytes of a request's head.
pub const MAX_HEAD: usize = 128 << 10;

/// Maximum number of a request's headers.
pub const MAX_HEADERS: usize = 100;

/// Errors of requests.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApiError {
    /// The query or the body lacks a field, or has one that cannot be read.
    #[error("cannot read the request: {0}")]
    Request(String),
    /// Two fields exclude each other.
    #[error("give '{0}' or '{1}', not both")]
    Conflict(&'static str, &'static str),
    /// The board is not a position.
    #[error("{0}")]
    Board(#[from] ParseError),
    /// The board literal is too long.
    #[error("the board literal has {0} characters; at most {MAX_LITERAL} are allowed")]
    LongLiteral(usize),
    /// The position has too many seeds.
    #[error("the position has {0} seeds in play; at most {MAX_SEEDS} are allowed")]
    Large(u32),
    /// The rule set is unknown.
    #[error("{0}")]
    Rules(#[from] UnknownRules),
    /// The player is unknown.
    #[error("{0}")]
    Player(#[from] UnknownPlayer),
    /// The moves are not a line of play from the position.
    #[error("{0}")]
    Line(String),
    /// The text is not a game.
    #[error("{0}")]
    Text(String),
    /// The tables are too small for a puzzle.
    #[error("no puzzle was found: the server needs larger tables for this board")]
    NoPuzzle,
    /// There is no move to choose.
    #[error("the game is over: there is no move to choose")]
    GameOver,
    /// The host of the request is not this server.
    #[error(
        "'{0}' is not a host of this server: it is localhost, the address at which it is reached, and what \
         --allow-host names"
    )]
    Host(String),
    /// A page of another website sent the request.
    #[error("requests from other websites are refused; this one came from '{0}'")]
    Origin(String),
    /// The client accepts no form of the answer.
    #[error("the client accepts neither gzip nor uncompressed documents")]
    Encoding,
    /// The request did not arrive in time.
    #[error("the request took too long to arrive")]
    Late,
    /// The address is unknown.
    #[error("there is nothing at {0}; docs/api.md lists the addresses")]
    NotFound(String),
    /// The address needs another method.
    #[error("this address does not allow the method {0}")]
    Method(String),
    /// The body is too large.
    #[error("the body has more than {MAX_BODY} bytes")]
    LargeBody,
    /// The address is too long.
    #[error("the address has more than {MAX_ADDRESS} bytes")]
    LongAddress,
    /// The address and the headers are too long.
    #[error("the request has more than {MAX_HEAD} bytes before its body, or more than {MAX_HEADERS} headers")]
    LongHead,
    /// A table is damaged.
    #[error("a table is damaged: {0}")]
    Damaged(String),
    /// A table became shorter while it was in use, or its disk failed.
    #[error("cannot read a table: {0}; repair the file, then restart the server")]
    Unreadable(String),
    /// Another failure.
    #[error("the server failed: {0}")]
    Failed(String),
    /// Neither rules, tables nor book have the position's value.
    #[error("no table and no book has this position; /api/position searches it")]
    NotKnown,
    /// The maximum number of searches is running.
    #[error("the server runs {0} searches, its maximum; repeat the request in a second")]
    Busy(usize),
    /// The server is stopping.
    #[error("the server is stopping")]
    Stopping,
}

/// Answer to a request that is refused, or that failed.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ErrorAnswer {
    error: ErrorFields,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ErrorFields {
    /// Code by which programs distinguish errors.
    code: &'static str,
    message: String,
}

impl ApiError {
    /// Returns the HTTP status, and the code by which programs distinguish errors.
    pub fn kind(&self) -> (u16, &'static str) {
        match self {
            ApiError::Request(_) => (400, "request"),
            ApiError::Board(_) | ApiError::LongLiteral(_) => (400, "board"),
            ApiError::Rules(_) => (400, "rules"),
            ApiError::Player(_) => (400, "player"),
            ApiError::Host(_) => (403, "host"),
            ApiError::Origin(_) => (403, "origin"),
            ApiError::NoPuzzle => (404, "no-puzzle"),
            ApiError::NotFound(_) => (404, "not-found"),
            ApiError::NotKnown => (404, "not-known"),
            ApiError::Method(_) => (405, "method"),
            ApiError::Encoding => (406, "encoding"),
            ApiError::Late => (408, "timeout"),
            ApiError::LargeBody => (413, "large-body"),
            ApiError::LongAddress => (414, "long-address"),
            ApiError::Large(_) => (422, "large-position"),
            ApiError::GameOver => (422, "game-over"),
            ApiError::Line(_) => (422, "line"),
            ApiError::Text(_) => (422, "text"),
            ApiError::Conflict(..) => (422, "conflict"),
            ApiError::LongHead => (431, "long-head"),
            ApiError::Damaged(_) => (500, "damaged-table"),
            ApiError::Failed(_) => (500, "failed"),
            ApiError::Unreadable(_) => (503, "unreadable-table"),
            ApiError::Busy(_) => (503, "busy"),
            ApiError::Stopping => (503, "stopping"),
        }
    }
}

impl ApiError {
    /// Returns true if the error should be reported to the operator.
    pub fn is_of_server(&self) -> bool {
        matches!(self, ApiError::Damaged(_) | ApiError::Unreadable(_) | ApiError::Failed(_))
    }

    /// Returns the error of a move of a line, by its index.
    pub(crate) fn of_move(index: usize, text: impl Display, why: impl Display) -> ApiError {
        ApiError::Line(format!("move {} of the line, '{text}': {why}", index + 1))
    }

    /// Returns the JSON document of the error.
    pub fn document(&self) -> ErrorAnswer {
        ErrorAnswer { error: ErrorFields { code: self.kind().1, message: self.to_string() } }
    }
}

impl From<RecordError> for ApiError {
    fn from(error: RecordError) -> ApiError {
        ApiError::Text(error.to_string())
    }
}

/// Returns the error for a failure of tables, books or searches.
fn failed(error: &dyn Diagnostic) -> ApiError {
    let text = error.to_string();
    match error.diagnosis(&NoCommands).kind {
        ErrorKind::Unreadable | ErrorKind::Table => ApiError::Unreadable(text),
        ErrorKind::Damaged => ApiError::Damaged(text),
        _ => ApiError::Failed(text),
    }
}

macro_rules! from_failures {
    ($($error:ty),*) => {$(
        impl From<$error> for ApiError {
            fn from(error: $error) -> ApiError {
                failed(&error)
            }
        }
    )*};
}

from_failures!(TableError, SolveError, ProbeError, BookError);

impl From<PlayError> for ApiError {
    fn from(error: PlayError) -> ApiError {
        if matches!(error, PlayError::GameOver) { ApiError::GameOver } else { failed(&error) }
    }
}

impl From<Stopped> for ApiError {
    fn from(_: Stopped) -> ApiError {
        ApiError::Stopping
    }
}
