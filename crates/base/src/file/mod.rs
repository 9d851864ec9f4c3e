//! Opens files without blocking. Handles files that keep state for the next run: replaced as a
//! whole, sealed with a checksum, and written by one process at a time.

// | module | contents |
// |---|---|
// | `companion` | files beside those that a user names: never those of others, never through links |
// | `io_error` | outcome and advice of `std::io::Error` |
// | `lock` | one process at a time |
// | `replace`(replace()) | replacing a file by a finished one |
// | `kind` | the contents of a file of this program |
// | `overwrite` | refusing to replace files whose content would be lost |
// | `output` | the file of a result: a regular one, a pipe or a device |
// | `seal` | JSON with a checksum |
// | `document` | JSON with a format, a version and a checksum: a file, or its first line |
// | `state` | files of unfinished work, from which a later run continues |
// | `bulk` | writing large sections, past the page cache where that is faster |
// | `directory` | creating directories, and links that lead nowhere |
// | `direct` | writing past the page cache |
// | `in_memory` | writing to files in memory, on several threads |
// | `flush` | moving written data to the disk, without waiting |
// | `read_back`(read_back()) | reading a file into the page cache |

mod bulk;
mod companion;
mod direct;
mod directory;
mod document;
mod flush;
mod in_memory;
mod io_error;
mod kind;
mod lock;
mod output;
mod overwrite;
mod read_back;
mod replace;
mod seal;
mod state;

use std::path::{Path, PathBuf};

pub use bulk::{BulkFile, LEAST_DIRECT_BYTES};
pub use companion::{CompanionError, open_companion, refuse_link, remove_own, require_own};
pub use directory::{create_directory, other_version, refuse_dangling, sync_directory};
pub use document::{Document, DocumentError};
pub use kalah_core::file::{found, open, open_with, read, read_exact_at, read_to_string};
pub use kind::FileContent;
pub use lock::{FileLock, LockError};
pub use output::{Output, is_stream};
pub use overwrite::{OverwriteError, is_same, require_apart, require_replaceable, require_unprotected};
pub use read_back::read_back;
pub use replace::{
    Replacement, is_temporary_of, persist_new, remove_leftovers, replace, require_writable, temporary_beside,
};
pub use seal::{Seal, SealError};
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

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
