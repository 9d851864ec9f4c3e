//! Files in which a run keeps what the next one takes up: replaced whole, sealed with a checksum, written by one process at
//! a time.
//!
//! | room | idea |
//! |---|---|
//! | [`lock`](FileLock) | one process at a time |
//! | [`replace`](replace()) | a finished file in the place of an old one |
//! | [`seal`](Seal) | JSON with a checksum |
//! | [`document`](Document) | a file that is one JSON document with a checksum |

mod document;
mod lock;
mod replace;
mod seal;

use std::io;
use std::path::{Path, PathBuf};

pub use document::{Document, DocumentError};
pub use lock::{FileLock, LockError};
pub use replace::{Replacement, remove_leftovers, replace};
pub use seal::{Seal, SealError};

/// The content of a file; `None` if it is not there.
///
/// # Errors
/// When it cannot be read, or is no ordinary file: one that waits for a writer would be read for ever.
pub fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match require_ordinary(path) {
        Ok(true) => std::fs::read(path).map(Some),
        Ok(false) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether there is a file at `path`.
///
/// # Errors
/// When it is no ordinary file, or that cannot be found out.
pub fn require_ordinary(path: &Path) -> io::Result<bool> {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(true),
        Ok(_) => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not an ordinary file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The path of the file that `path` links to if it is a link, else `path`: a lock and a replacement must lie beside the
/// file itself, whatever name it is reached by.
#[must_use]
pub fn resolved(path: &Path) -> PathBuf {
    let is_link = std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    // A link that leads nowhere is told when it is used.
    if is_link { std::fs::canonicalize(path) } else { Ok(path.to_owned()) }.unwrap_or_else(|_| path.to_owned())
}

/// `path` with something added to its name.
#[must_use]
pub fn beside(path: &Path, added: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(added);
    name.into()
}

/// The directory of a file.
fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
