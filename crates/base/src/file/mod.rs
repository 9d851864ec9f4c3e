//! Opens files without blocking. Handles files that keep state for the next run: replaced as a
//! whole, sealed with a checksum, and written by one process at a time.

// | module | contents |
// |---|---|
// | `lock` | one process at a time |
// | `replace`(replace()) | replacing a file by a finished one |
// | `document` | JSON with a format, a version and a checksum: a file, or its first line |
// | `state` | files of unfinished work, from which a later run continues |
// | `bulk` | writing large sections, past the page cache where that is faster; reading them back |
// | `direct` | writing past the page cache |
// | `in_memory` | files in memory; writing to them on several threads |

mod bulk;
mod direct;
mod document;
mod in_memory;
mod lock;
mod replace;
mod state;

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

pub use bulk::{BulkFile, read_back};
pub use document::{Document, DocumentError, Seal};
pub use in_memory::is_in_memory;
use kalah_core::file::found;
pub use lock::{FileLock, LockError};
pub use replace::{Replacement, is_stream, is_temporary_of, persist_new, remove_leftovers, replace, temporary_beside};
pub use state::{StateError, StateFile};

/// Resolves `path` if it is a link. A lock and a replacement must be in the directory of the file
/// itself.
#[must_use]
pub fn resolved(path: &Path) -> PathBuf {
    let is_link = std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    // A dangling link gives an error when it is used.
    if is_link { std::fs::canonicalize(path) } else { Ok(path.to_owned()) }.unwrap_or_else(|_| path.to_owned())
}

/// Adds a suffix to the name of `path`.
#[must_use]
pub fn beside(path: &Path, added: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(added);
    name.into()
}

/// Returns an error if the output `path` exists and has content, unless the user allows to `replace` it.
///
/// # Errors
/// When it does, or its length cannot be read.
pub fn require_new(path: &Path, replace: bool) -> io::Result<()> {
    match found(path.metadata())? {
        Some(there) if !replace && there.is_file() && there.len() > 0 => {
            Err(io::Error::new(ErrorKind::AlreadyExists, "it exists; give --force to replace it"))
        }
        _ => Ok(()),
    }
}

/// Removes the file `path` if it exists.
///
/// # Errors
/// When it cannot be removed.
pub fn remove(path: &Path) -> io::Result<()> {
    found(std::fs::remove_file(path)).map(drop)
}

/// Returns true if both are names of one existing file.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let [one, other] = [one, other].map(|path| path.canonicalize().ok());
    one.is_some() && one == other
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates the directory `path` and those above it, unless it exists.
///
/// # Errors
/// When it cannot be created. If `path` is something else, the error names it.
pub fn create_directory(path: &Path) -> io::Result<()> {
    refuse_dangling(path)?;
    match std::fs::create_dir_all(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(io::Error::new(ErrorKind::NotADirectory, "it is not a directory"))
        }
        created => created,
    }
}

/// Waits until the names in the directory `path` are on the disk, where its file system can do that.
/// Some network file systems cannot.
///
/// # Errors
/// When the directory cannot be opened, or writing fails.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        let cannot = [ErrorKind::InvalidInput, ErrorKind::Unsupported];
        match std::fs::File::open(path)?.sync_all() {
            Err(error) if cannot.contains(&error.kind()) => Ok(()),
            synced => synced,
        }
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        Ok(())
    }
}

/// Returns an error if `path` is a link to something that does not exist: a file of this name can
/// be neither created nor read.
///
/// # Errors
/// When it is such a link, or that cannot be determined.
fn refuse_dangling(path: &Path) -> io::Result<()> {
    let is_link = found(path.symlink_metadata())?.is_some_and(|metadata| metadata.is_symlink());
    if !is_link || found(path.metadata())?.is_some() {
        return Ok(());
    }
    let target = std::fs::read_link(path).unwrap_or_default();
    let message = format!("it is a link to {}, which does not exist", target.display());
    Err(io::Error::new(ErrorKind::InvalidInput, message))
}
