use std::io;

use kalah_tables::printable::printable;

use crate::play::PlayError;

/// The most characters of the server's text in an answer to it.
const MAX_QUOTED: usize = 200;

/// Why a session failed for good.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KgpError {
    /// The connection failed.
    #[error("the connection to the server failed: {0}")]
    Io(#[from] io::Error),
    /// The server speaks another version, as it names it.
    #[error("the server speaks version {} of the protocol; this client speaks version 1", quoted(.0))]
    Version(String),
    /// A table or a search failed.
    #[error("{0}")]
    Play(#[from] PlayError),
}

/// What the server said, as a part of another text.
pub(super) fn quoted(text: &str) -> String {
    printable(text, MAX_QUOTED)
}
