use std::io::{self, Write};
use std::path::Path;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3Default;

use super::{Replacement, replace};

/// A kind of JSON document: `format`, `version`, the fields of its content, and the checksum of a
/// [`Seal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Document {
    /// Name of the format. It begins with `kalah`, by which the file is recognised as ours.
    pub format: &'static str,
    /// Version that this program writes and reads.
    pub version: u32,
}

/// Reasons why bytes are not a valid document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// It is something else, or its first bytes are damaged.
    #[error("it is not a '{0}', or it is damaged")]
    Foreign(&'static str),
    /// It has another version.
    #[error("it is a '{format}': its format has version {found}, this program reads version {known}")]
    Version {
        /// Name of the format. It begins with `kalah`, by which the file is recognised as ours.
        format: &'static str,
        /// Version found.
        found: u32,
        /// Version that this program reads.
        known: u32,
    },
    /// The bytes were changed.
    #[error("its checksum is wrong: it was changed or damaged")]
    Checksum,
    /// The checksum is right, but the content is something else.
    #[error("its content is not as expected: {0}")]
    Content(#[from] serde_json::Error),
}

/// The form of an object as JSON on one line of a file. A last field, `checksum`, holds the XXH3 (64 bits, hexadecimal)
/// of all bytes before the comma in front of it. A change of any byte is detected.
///
/// It has the first line of the file; nothing for that line itself. The checksum covers that line, too, so that lines
/// of another file are detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal<'a>(pub &'a [u8]);

impl Seal<'_> {
    /// Writes `content`, an object with at least one field, as JSON with its checksum and a line
    /// feed.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn close(self, content: &impl Serialize) -> serde_json::Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec(content)?;
        bytes.truncate(bytes.len() - 1);
        let tail = self.tail(&bytes);
        bytes.extend_from_slice(tail.as_bytes());
        Ok(bytes)
    }

    /// Reads the content. `bytes` end with the line feed.
    ///
    /// # Errors
    /// When a byte was changed, or something else was sealed.
    pub fn open<T: DeserializeOwned>(self, bytes: &[u8]) -> Result<T, DocumentError> {
        let body = bytes.len().checked_sub(self.tail(&[]).len()).ok_or(DocumentError::Checksum)?;
        let (body, tail) = bytes.split_at(body);
        if tail != self.tail(body).as_bytes() {
            return Err(DocumentError::Checksum);
        }
        Ok(serde_json::from_slice(bytes)?)
    }

    /// Text after the fields in `body`.
    fn tail(self, body: &[u8]) -> String {
        let mut hash = Xxh3Default::new();
        hash.update(self.0);
        hash.update(body);
        format!(",\"checksum\":\"{:016x}\"}}\n", hash.digest())
    }
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

impl Document {
    /// Writes a document to the file `path`, replacing an existing file.
    ///
    /// # Errors
    /// When it cannot be written. The old file stays unchanged.
    pub fn write(&self, path: &Path, content: &impl Serialize) -> io::Result<()> {
        let line = self.line(content)?;
        replace(path, |file| file.write_all(&line))
    }

    /// Writes a document to the file `path`, unless that exists.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_new(&self, path: &Path, content: &impl Serialize) -> io::Result<()> {
        let mut file = Replacement::begin(path)?;
        file.write_all(&self.line(content)?)?;
        file.finish_new().map(drop)
    }

    /// The document as one line, a whole file or its first line.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn line(&self, content: &impl Serialize) -> io::Result<Vec<u8>> {
        let &Document { format, version } = self;
        Ok(Seal(b"").close(&Whole { format, version, _checksum: IgnoredAny, content })?)
    }

    /// Reads the content of a document.
    ///
    /// # Errors
    /// When the bytes are not such a document, complete and unchanged.
    pub fn parse<T: DeserializeOwned>(&self, line: &[u8]) -> Result<T, DocumentError> {
        let &Document { format, version: known } = self;
        let head = serde_json::from_slice(line).ok().filter(|head: &Head| head.format == format);
        let Some(Head { version: found, .. }) = head else {
            return Err(match line.starts_with(format!("{{\"format\":\"{format}\",").as_bytes()) {
                true => DocumentError::Checksum,
                false => DocumentError::Foreign(format),
            });
        };
        if found != known {
            return Err(DocumentError::Version { format, found, known });
        }
        Ok(Seal(b"").open::<Whole<String, T>>(line)?.content)
    }
}
