use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::files;

/// The name of the lock file in a directory of tables.
const LOCK_FILE: &str = "build.lock";

/// The right to write to a directory of tables, held by one process at a time and given back when it ends, however.
pub struct DirectoryLock {
    file: File,
}

/// Why a directory could not be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process writes to it.
    #[error("{directory} is in use by {holder}; wait for it or stop it first")]
    Held {
        /// The directory.
        directory: PathBuf,
        /// What the other process wrote about itself.
        holder: String,
    },
    /// The lock file cannot be made.
    #[error("{path}: {source}")]
    Io {
        /// The lock file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

impl DirectoryLock {
    /// Makes the directory if it is not there, and takes its lock.
    ///
    /// # Errors
    /// When another process holds the lock, or the file system says no.
    pub fn take(directory: &Path) -> Result<DirectoryLock, LockError> {
        let path = directory.join(LOCK_FILE);
        let io = |source| LockError::Io { path: path.clone(), source };
        std::fs::create_dir_all(directory).map_err(io)?;
        let options = &mut OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = files::open_with(&path, options).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // What the holder wrote helps; its absence changes nothing.
                let _ = file.read_to_string(&mut holder);
                let holder = holder.trim();
                let holder = if holder.is_empty() { "another kalah process" } else { holder }.to_owned();
                return Err(LockError::Held { directory: directory.to_owned(), holder });
            }
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        let command: Vec<String> = std::env::args().collect();
        file.set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| writeln!(file, "process {} ({})", std::process::id(), command.join(" ")))
            .map_err(io)?;
        Ok(DirectoryLock { file })
    }
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        // Closing the file would leave it locked for as long as a process that is just being started still has it open.
        let _ = self.file.unlock();
    }
}
