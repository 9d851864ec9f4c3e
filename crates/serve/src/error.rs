use std::error::Error;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use kalah_core::cause;
use kalah_core::game::{ParseError, UnknownRules};
use kalah_play::play::{PlayError, UnknownPlayer};
use kalah_play::record::RecordError;
use kalah_solve::book::BookError;
use kalah_solve::solve::SolveError;
use kalah_tables::table::{Damage, TableError};
use serde_json::{Value, json};

/// The most seeds in play of a position that is answered.
pub(super) const MAX_SEEDS: u32 = 400;

/// The most characters of a board literal.
pub(super) const MAX_LITERAL: usize = 256;

/// The most moves of a line.
pub(super) const MAX_MOVES: usize = 1000;

/// The most bytes of a request's address, and of its body.
pub(super) const MAX_BYTES: usize = 8192;

/// The most bytes of a request's head, and its most headers.
pub(super) const MAX_HEAD: usize = 128 << 10;
pub(super) const MAX_HEADERS: usize = 100;

/// Seconds after which a client that was refused may ask again.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

/// Why a request is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApiError {
    /// The query or the body has not the parts it needs, or parts that cannot be read.
    #[error("the request cannot be read: {0}")]
    Request(String),
    /// The board is no position.
    #[error("{0}")]
    Board(#[from] ParseError),
    /// The board literal is too long to be one.
    #[error("a board literal has at most {MAX_LITERAL} characters, not {0}")]
    LongLiteral(usize),
    /// The position has too many seeds.
    #[error("{0} seeds in play are more than the {MAX_SEEDS} that are answered here")]
    Large(u32),
    /// The rules are unknown.
    #[error("{0}")]
    Rules(#[from] UnknownRules),
    /// The player is unknown.
    #[error("{0}")]
    Player(#[from] UnknownPlayer),
    /// The moves are no line of play from the position.
    #[error("{0}")]
    Line(String),
    /// A text is no game.
    #[error("{0}")]
    Text(String),
    /// The tables are too small for a puzzle.
    #[error("no puzzle was found: the tables of this board must be there, and large enough")]
    NoPuzzle,
    /// There is no move to choose.
    #[error("the game is over: there is no move to choose")]
    GameOver,
    /// The host of the request is not this server.
    #[error(
        "'{0}' is not a host of this server: it is localhost, the address at which it is reached, and what \
         --allow-host \
         names"
    )]
    Host(String),
    /// A page of another website sent the request.
    #[error("requests from other websites are refused; this one came from '{0}'")]
    Origin(String),
    /// The client accepts no form of the answer.
    #[error("the client accepts neither gzip nor documents that are not compressed")]
    Encoding,
    /// The request did not arrive in time.
    #[error("the request took too long to arrive")]
    Late,
    /// There is nothing at the address.
    #[error("there is nothing at {0}; docs/api.md lists the addresses")]
    NotFound(String),
    /// The address takes another method.
    #[error("this address does not take the method {0}")]
    Method(String),
    /// The body is too large.
    #[error("the body has more than {MAX_BYTES} bytes")]
    LargeBody,
    /// The address is too long.
    #[error("the address has more than {MAX_BYTES} bytes")]
    LongAddress,
    /// The address and the headers are too long.
    #[error("the request has more than {MAX_HEAD} bytes before its body, or more than {MAX_HEADERS} headers")]
    LongHead,
    /// A table is damaged.
    #[error("a table is damaged: {0}")]
    Damaged(String),
    /// A table became shorter while it was in use, or its disk failed.
    #[error("a table cannot be read: {0}; the server must be restarted once the file is right")]
    Unreadable(String),
    /// Something else went wrong.
    #[error("the server failed: {0}")]
    Failed(String),
    /// As many searches are under way as may be.
    #[error("all {0} searches are taken; ask again in a second")]
    Busy(usize),
    /// The server is stopping.
    #[error("the server is stopping")]
    Stopping,
}

impl ApiError {
    /// The HTTP status, and the code by which programs distinguish errors.
    pub fn kind(&self) -> (u16, &'static str) {
        match self {
            ApiError::Request(_) => (400, "request"),
            ApiError::Board(_) | ApiError::LongLiteral(_) => (400, "board"),
            ApiError::Rules(_) => (400, "rules"),
            ApiError::Player(_) => (400, "player"),
            ApiError::Line(_) => (400, "line"),
            ApiError::Text(_) => (400, "text"),
            ApiError::Host(_) => (403, "host"),
            ApiError::Origin(_) => (403, "origin"),
            ApiError::NoPuzzle => (404, "no-puzzle"),
            ApiError::NotFound(_) => (404, "not-found"),
            ApiError::Method(_) => (405, "method"),
            ApiError::Encoding => (406, "encoding"),
            ApiError::Late => (408, "timeout"),
            ApiError::LargeBody => (413, "large-body"),
            ApiError::LongAddress => (414, "long-address"),
            ApiError::Large(_) => (422, "large-position"),
            ApiError::GameOver => (422, "game-over"),
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
    /// Whether the operator of the server should know.
    pub(super) fn is_of_server(&self) -> bool {
        matches!(self, ApiError::Damaged(_) | ApiError::Unreadable(_) | ApiError::Failed(_))
    }

    /// The HTTP status.
    fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.kind().0).expect("a status")
    }

    /// The JSON document of an error.
    pub(super) fn document(&self) -> Value {
        json!({ "error": { "code": self.kind().1, "message": self.to_string() } })
    }

    /// The whole response as bytes on the wire, for where no handler can return it; the last one on its connection.
    pub(super) fn response_text(&self) -> String {
        let (status, document) = (self.status(), self.document().to_string());
        let length = document.len();
        format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: \
             close\r\n\r\n{document}"
        )
    }
}

impl From<RecordError> for ApiError {
    fn from(error: RecordError) -> ApiError {
        ApiError::Text(error.to_string())
    }
}

/// The error for a failure of tables, books or searches.
fn failed(error: &(dyn Error + 'static)) -> ApiError {
    let text = error.to_string();
    match cause::find(error) {
        Some(TableError::Damaged { damage: Damage::Shrunk, .. }) => ApiError::Unreadable(text),
        Some(_) => ApiError::Damaged(text),
        None => ApiError::Failed(text),
    }
}

impl From<TableError> for ApiError {
    fn from(error: TableError) -> ApiError {
        failed(&error)
    }
}

impl From<SolveError> for ApiError {
    fn from(error: SolveError) -> ApiError {
        failed(&error)
    }
}

impl From<BookError> for ApiError {
    fn from(error: BookError) -> ApiError {
        failed(&error)
    }
}

impl From<PlayError> for ApiError {
    fn from(error: PlayError) -> ApiError {
        if matches!(error, PlayError::GameOver) { ApiError::GameOver } else { failed(&error) }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status(), Json(self.document())).into_response();
        if matches!(self, ApiError::Busy(_) | ApiError::Stopping) {
            response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER);
        }
        response
    }
}
