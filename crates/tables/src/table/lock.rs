use std::path::Path;

use kalah_base::file::{FileLock, LockError, create_directory};

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
