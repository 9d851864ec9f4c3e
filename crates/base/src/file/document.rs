use std::io::{self, Write};
use std::path::Path;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use super::{FileContent, Replacement, Seal, SealError, replace};

/// A kind of JSON document: `format`, `version`, the fields of its content, and the checksum of a
/// [`Seal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Document {
    /// Name of the format. It begins with `kalah`, by which the file is recognised as ours.
    pub format: &'static str,
    /// Version that this program writes and reads.
    pub version: u32,
}

/// The form of a document that is the first line of a file.
const FIRST_LINE: Seal = Seal::Line { head: b"" };

/// Reasons why bytes are not a valid document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// It is something else, or its first bytes are damaged.
    #[error("it is not a '{0}', or it is damaged")]
    Foreign(&'static str),
    /// It has another version.
    #[error("it is a '{format}': {}", super::other_version(*found, *known))]
    Version {
        /// Name of the format. It begins with `kalah`, by which the file is recognised as ours.
        format: &'static str,
        /// Version found.
        found: u32,
        /// Version that this program reads.
        known: u32,
    },
    /// It was changed, or has other content.
    #[error("{0}")]
    Seal(#[from] SealError),
}

#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

#[derive(Serialize, Deserialize)]
struct Whole<F, T> {
    format: F,
    version: u32,
    /// The seal, which is no part of the content.
    #[serde(default, rename = "checksum", skip_serializing)]
    _checksum: IgnoredAny,
    #[serde(flatten)]
    content: T,
}

impl DocumentError {
    /// Returns true if the document has a newer version than this program reads.
    pub fn is_newer(&self) -> bool {
        matches!(self, DocumentError::Version { found, known, .. } if found > known)
    }
}

impl Document {
    /// Writes a document to the file `path`, replacing an existing file.
    ///
    /// # Errors
    /// When it cannot be written. The old file stays unchanged.
    pub fn write(&self, path: &Path, content: &impl Serialize) -> io::Result<()> {
        let bytes = self.bytes(content)?;
        replace(path, Some(FileContent::State), |file| file.write_all(&bytes))
    }

    /// Writes a document to the file `path`, unless that exists.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_new(&self, path: &Path, content: &impl Serialize) -> io::Result<()> {
        let bytes = self.bytes(content)?;
        let mut file = Replacement::begin_own(path)?;
        file.write_all(&bytes)?;
        file.finish_new().map(drop)
    }

    /// The document as one line, the first of a file.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn line(&self, content: &impl Serialize) -> io::Result<Vec<u8>> {
        self.close(FIRST_LINE, content)
    }

    fn bytes(&self, content: &impl Serialize) -> io::Result<Vec<u8>> {
        self.close(Seal::Page, content)
    }

    fn close(&self, seal: Seal, content: &impl Serialize) -> io::Result<Vec<u8>> {
        Ok(seal.close(&Whole { format: self.format, version: self.version, _checksum: IgnoredAny, content })?)
    }

    /// Reads the content of a document.
    ///
    /// # Errors
    /// When the bytes are not such a document, complete and unchanged.
    pub fn parse<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T, DocumentError> {
        self.open(Seal::Page, bytes)
    }

    /// Reads the content of a document that is one [line](Document::line).
    ///
    /// # Errors
    /// When the bytes are not such a document, complete and unchanged.
    pub fn parse_line<T: DeserializeOwned>(&self, line: &[u8]) -> Result<T, DocumentError> {
        self.open(FIRST_LINE, line)
    }

    fn open<T: DeserializeOwned>(&self, seal: Seal, bytes: &[u8]) -> Result<T, DocumentError> {
        let &Document { format, version: known } = self;
        let head = serde_json::from_slice(bytes).ok().filter(|head: &Head| head.format == format);
        let Some(Head { version: found, .. }) = head else {
            let own = [format!("{{\n  \"format\": \"{format}\","), format!("{{\"format\":\"{format}\",")];
            return Err(match own.iter().any(|own| bytes.starts_with(own.as_bytes())) {
                true => SealError::Checksum.into(),
                false => DocumentError::Foreign(format),
            });
        };
        if found != known {
            return Err(DocumentError::Version { format, found, known });
        }
        Ok(seal.open::<Whole<String, T>>(bytes)?.content)
    }
}
