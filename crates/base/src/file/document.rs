use std::io::{self, Write};
use std::path::Path;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3Default;

use super::{FileContent, Replacement, replace};

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
    /// The bytes were changed.
    #[error("its checksum is wrong: it was changed or damaged")]
    Checksum,
    /// The checksum is right, but the content is something else.
    #[error("its content is not as expected: {0}")]
    Content(#[from] serde_json::Error),
}

/// The form of an object as JSON with a checksum. A last field, `checksum`, holds the XXH3 (64
/// bits, hexadecimal) of all bytes before the comma in front of it. A change of any byte is
/// detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seal<'a> {
    /// On several lines, for people to read.
    Page,
    /// On one line of a file that begins with `head`. The checksum covers `head` and the line
    /// together, so that lines of another file are detected.
    Line {
        /// The first line of the file; empty for that line itself.
        head: &'a [u8],
    },
}

impl Seal<'_> {
    /// Writes `content`, an object with at least one field, as JSON with its checksum and a line
    /// feed.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn close(self, content: &impl Serialize) -> serde_json::Result<Vec<u8>> {
        let mut bytes = match self {
            Seal::Page => serde_json::to_vec_pretty(content)?,
            Seal::Line { .. } => serde_json::to_vec(content)?,
        };
        let end = bytes.trim_ascii_end().strip_suffix(b"}").map_or(0, |body| body.trim_ascii_end().len());
        bytes.truncate(end);
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
        if let Seal::Line { head } = self {
            hash.update(head);
        }
        hash.update(body);
        let checksum = hash.digest();
        match self {
            Seal::Page => format!(",\n  \"checksum\": \"{checksum:016x}\"\n}}\n"),
            Seal::Line { .. } => format!(",\"checksum\":\"{checksum:016x}\"}}\n"),
        }
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

impl DocumentError {
    /// Returns true if the document has a newer version than this program reads.
    pub(crate) fn is_newer(&self) -> bool {
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
                true => DocumentError::Checksum,
                false => DocumentError::Foreign(format),
            });
        };
        if found != known {
            return Err(DocumentError::Version { format, found, known });
        }
        Ok(seal.open::<Whole<String, T>>(bytes)?.content)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_is_closed_is_opened_and_any_other_byte_is_found() {
        let content = json!({ "name": "a \"checksum\": b", "list": [1, { "two": 3.25 }] });
        for seal in [Seal::Page, Seal::Line { head: b"" }, Seal::Line { head: b"head\n" }] {
            let closed = seal.close(&content).unwrap();
            let mut opened: Value = seal.open(&closed).unwrap();
            assert!(opened.as_object_mut().unwrap().remove("checksum").unwrap().is_string());
            assert_eq!(opened, content);
            for at in 0..closed.len() {
                for bit in 0..8 {
                    let mut changed = closed.clone();
                    changed[at] ^= 1 << bit;
                    assert!(
                        matches!(seal.open::<Value>(&changed), Err(DocumentError::Checksum)),
                        "byte {at}, bit {bit}"
                    );
                }
                assert!(matches!(seal.open::<Value>(&closed[..at]), Err(DocumentError::Checksum)), "cut at {at}");
            }
        }
        let [one, other] = [b"1\n", b"2\n"].map(|head| Seal::Line { head });
        assert!(matches!(one.open::<Value>(&other.close(&content).unwrap()), Err(DocumentError::Checksum)));
    }
}
