use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use kalah_core::cancel::Cancel;

use super::address::Address;
use super::client::{Client, FetchedBytes, Traffic};
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

    /// Requests and bytes so far.
    fn traffic(&self) -> Traffic;
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

/// The files at an address.
pub(crate) struct HttpStore {
    client: Client,
    address: Address,
}

impl HttpStore {
    /// See [`Client::new`].
    pub(crate) fn new(address: &Address, patience: Duration, cancel: &Cancel) -> HttpStore {
        HttpStore { client: Client::new(address, patience, cancel), address: address.clone() }
    }
}

impl Store for HttpStore {
    fn address(&self) -> &Path {
        self.address.shown()
    }

    fn identity(&self) -> String {
        self.address.identity().to_owned()
    }

    fn range(&self, name: &str, range: Range<u64>, fresh: bool) -> Result<FetchedBytes, RemoteError> {
        self.client.range(&self.address.file(name), range, fresh)
    }

    fn interrupt(&self) {
        self.client.interrupt();
    }

    fn traffic(&self) -> Traffic {
        self.client.traffic()
    }
}

impl fmt::Debug for dyn Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("address", &self.address()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_differ_and_have_no_secrets() {
        let folder = |text: &str| {
            let address = Address::parse(text).unwrap();
            folder(&HttpStore::new(&address, Duration::ZERO, &Cancel::new()))
        };
        for text in ["https://user:secret@host/tables?token=secret", "https://host/tables?secret#secret"] {
            assert!(!folder(text).contains("secret"), "{}", folder(text));
        }
        assert!(folder("https://host/a").starts_with("host-"));
        assert_ne!(folder("https://host/a"), folder("https://host/b"));
        // The query may change with each signature of the same directory.
        assert_eq!(folder("https://host/a?1"), folder("https://host/a?2"));
    }
}
