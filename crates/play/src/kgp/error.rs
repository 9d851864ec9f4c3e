use std::io;

use kalah_tables::printable::printable;

use crate::play::PlayError;

/// Maximum characters of a server's text that are quoted in an answer.
const MAX_QUOTED: usize = 200;

/// Error that ends a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KgpError {
    /// The connection failed.
    #[error("the connection to the server failed: {0}")]
    Io(#[from] io::Error),
    /// The server speaks another version, given in its own words.
    #[error("the server speaks version {} of the protocol; this client speaks version 1", quoted(.0))]
    Version(String),
    /// A table or a search failed.
    #[error("{0}")]
    Play(#[from] PlayError),
}

/// Quotes a text of the server in another text.
pub(super) fn quoted(text: &str) -> String {
    printable(text, MAX_QUOTED)
}
