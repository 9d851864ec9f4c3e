use std::fmt;
use std::ops::Range;
use std::path::Path;

use super::error::RemoteError;

/// A directory of files elsewhere, read by parts: over HTTP, or by any other means.
///
/// Nothing that it sends is trusted: headers are compared with digests, and blocks with checksums.
pub trait Store: Send + Sync {
    /// Address of the directory, for messages.
    fn address(&self) -> &Path;

    /// Text that identifies the directory: another directory has another text. It is only shown as a digest.
    fn identity(&self) -> String {
        self.address().display().to_string()
    }

    /// Names of all files; `None` if the store cannot list them.
    ///
    /// # Errors
    /// When the list cannot be read.
    fn names(&self) -> Result<Option<Vec<String>>, RemoteError> {
        Ok(None)
    }

    /// Reads the bytes of `range` of the file `name`, or up to the end of a shorter file. `fresh` bypasses caches on
    /// the way. Several threads may call this at once.
    ///
    /// # Errors
    /// [`RemoteError::NotFound`] if there is no such file; otherwise when the bytes cannot be read.
    fn range(&self, name: &str, range: Range<u64>, fresh: bool) -> Result<FetchedBytes, RemoteError>;

    /// Ends the waits of now: calls of [`Store::range`] in progress fail, and later ones do not. A store that cannot do
    /// this goes on.
    fn interrupt(&self) {}
}

/// The requested bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedBytes {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Bytes of the whole file.
    pub total: u64,
    /// Tag of the file's version, if the store has such tags.
    pub tag: Option<String>,
}

/// Name of a folder of the cache for a directory: where it is, and a digest.
pub(crate) fn folder(store: &dyn Store) -> String {
    let shown = store.address().display().to_string();
    let host = shown.split("://").nth(1).and_then(|rest| rest.split('/').find(|part| !part.is_empty()));
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '.' || letter == '-';
    let plain = |letter| if is_plain(letter) { letter } else { '-' };
    let host: String = host.unwrap_or("files").chars().map(plain).take(60).collect();
    let digest = blake3::hash(store.identity().as_bytes()).to_hex();
    format!("{host}-{}", &digest[..16])
}

impl fmt::Debug for dyn Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("address", &self.address()).finish_non_exhaustive()
    }
}
