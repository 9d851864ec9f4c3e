use std::io::ErrorKind;
use std::path::Path;

use kalah_base::file::{FileLock, LockError, create_directory};
use kalah_core::table::TableError;

/// Decides about the file `path`, a table or archive that was `opened`, before that of `source` is written there.
/// Returns it if `is_same`; `None` if it may be replaced, since it does not exist or is certainly damaged.
///
/// # Errors
/// When it must stay ([`TableError::Occupied`]): it holds another table, or is of another kind. When it has a newer
/// version or cannot be read.
pub fn unless_other<T>(
    path: &Path,
    opened: Result<T, TableError>,
    source: &Path,
    is_same: impl FnOnce(&T) -> bool,
) -> Result<Option<T>, TableError> {
    match opened {
        Ok(found) if is_same(&found) => Ok(Some(found)),
        Ok(_) => {
            let reason = format!("it holds another table than {}", source.display());
            Err(TableError::Occupied { path: path.to_owned(), reason })
        }
        Err(TableError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.is_worthless() => Ok(None),
        Err(error) if error.is_newer() => Err(error),
        Err(TableError::Damaged { path, damage, .. }) => Err(TableError::Occupied { path, reason: damage.to_string() }),
        Err(error) => Err(error),
    }
}

/// The name of the lock file in a directory of tables.
const LOCK_FILE: &str = "build.lock";

/// The right to write to a directory of tables, held by one process at a time and released when it
/// ends, however it ends.
#[derive(Debug)]
pub struct DirectoryLock {
    _lock: FileLock,
}

impl DirectoryLock {
    /// Creates the directory if it does not exist, and takes its lock.
    ///
    /// # Errors
    /// When another process holds the lock, or the lock file cannot be created.
    pub fn take(directory: &Path) -> Result<DirectoryLock, LockError> {
        let path = directory.join(LOCK_FILE);
        create_directory(directory).map_err(|source| LockError::Io { path: directory.to_owned(), source })?;
        Ok(DirectoryLock { _lock: FileLock::take(path, directory)? })
    }
}
