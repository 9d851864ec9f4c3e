use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::Xxh3Default;

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

/// Reasons why sealed JSON cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// The bytes were changed.
    #[error("its checksum is wrong: it was changed or damaged")]
    Checksum,
    /// The checksum is right, but the content is something else.
    #[error("its content is not as expected: {0}")]
    Content(#[from] serde_json::Error),
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
    pub fn open<T: DeserializeOwned>(self, bytes: &[u8]) -> Result<T, SealError> {
        let body = bytes.len().checked_sub(self.tail(&[]).len()).ok_or(SealError::Checksum)?;
        let (body, tail) = bytes.split_at(body);
        if tail != self.tail(body).as_bytes() {
            return Err(SealError::Checksum);
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
                    assert!(matches!(seal.open::<Value>(&changed), Err(SealError::Checksum)), "byte {at}, bit {bit}");
                }
                assert!(matches!(seal.open::<Value>(&closed[..at]), Err(SealError::Checksum)), "cut at {at}");
            }
        }
        let [one, other] = [b"1\n", b"2\n"].map(|head| Seal::Line { head });
        assert!(matches!(one.open::<Value>(&other.close(&content).unwrap()), Err(SealError::Checksum)));
    }
}
