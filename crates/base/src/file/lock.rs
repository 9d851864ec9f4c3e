use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use kalah_core::file::{found, open_with};

use super::replace::in_directory;
use super::{beside, directory_of};
use crate::diagnostic::{Diagnosis, Diagnostic, Outcome};

/// Maximum bytes read of a holder's description.
const HOLDER_BYTES: u64 = 1000;

/// The right to write to something, held by one process at a time and released when it ends,
/// however it ends.
///
/// It is an operating-system lock on a separate file, which names the holder. A file that is
/// replaced as a whole cannot be locked itself: the lock would stay with the old file.
#[derive(Debug)]
pub struct FileLock {
    file: File,
    path: PathBuf,
    /// True if the lock file is removed when the lock is released.
    removed: bool,
}

/// Reasons why a lock could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process holds it.
    #[error("{path} is in use by {holder}")]
    Held {
        /// The locked file or directory.
        path: PathBuf,
        /// The other process's description of itself.
        holder: String,
    },
    /// The lock file cannot be opened or created.
    #[error("{path}: {source}")]
    Io {
        /// The lock file if it exists; otherwise the file or directory to be locked.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The file system has no locks.
    #[error("{path}: it cannot be locked: {source}")]
    Unsupported {
        /// The file or directory to be locked.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

impl Diagnostic for LockError {
    fn diagnosis(&self) -> Diagnosis {
        match self {
            LockError::Held { .. } => Outcome::Failed.help("wait until that process ends, or stop it"),
            LockError::Unsupported { .. } => Outcome::Failed.help("choose a place on a file system with locks"),
            LockError::Io { source, .. } => source.diagnosis(),
        }
    }
}

impl FileLock {
    /// Locks the file `path`, which need not exist. A lock file in the same directory, with `.lock`
    /// added to the name, exists while the lock is held.
    ///
    /// # Errors
    /// When another process holds the lock, or the lock file cannot be created.
    pub fn beside(path: &Path) -> Result<FileLock, LockError> {
        let mut lock = FileLock::take(beside(path, ".lock"), path)?;
        // On other systems a file that another process has open cannot be removed.
        lock.removed = cfg!(unix);
        Ok(lock)
    }

    /// Locks the file `lock`, which is never removed, in order to write to `path`.
    ///
    /// # Errors
    /// When another process holds the lock, or the lock file cannot be created.
    pub fn take(lock: PathBuf, path: &Path) -> Result<FileLock, LockError> {
        let io = |source| {
            // The user has not named the lock file.
            let named = if lock.exists() { &lock } else { path };
            LockError::Io { path: named.to_owned(), source: in_directory(source, directory_of(&lock)) }
        };
        let mut file = loop {
            let options = &mut OpenOptions::new();
            let options = options.read(true).write(true).create(true).truncate(false);
            let mut file = open_with(&lock, options).map_err(io)?;
            match file.try_lock() {
                // Since it was opened, its last holder may have removed it, and another process may
                // have created a new one.
                Ok(()) if is_named(&file, &lock).map_err(io)? => break file,
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(LockError::Held { path: path.to_owned(), holder: holder(&mut file) });
                }
                Err(TryLockError::Error(source)) if has_no_locks(&source) => {
                    return Err(LockError::Unsupported { path: path.to_owned(), source });
                }
                Err(TryLockError::Error(source)) => return Err(io(source)),
            }
        };
        let command: Vec<_> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        let holder = format!("process {} ({})\n", std::process::id(), command.join(" "));
        file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(holder.as_bytes())).map_err(io)?;
        Ok(FileLock { file, path: lock, removed: false })
    }
}

/// Returns true if an error means that no file can be locked there.
fn has_no_locks(error: &io::Error) -> bool {
    #[cfg(unix)]
    let has_none = error.raw_os_error() == Some(libc::ENOLCK);
    #[cfg(not(unix))]
    let has_none = false;
    has_none || error.kind() == io::ErrorKind::Unsupported
}

/// Returns true if `path` still names the file that was opened there.
#[cfg(unix)]
fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let Some(named) = found(path.metadata())? else { return Ok(false) };
    let opened = file.metadata()?;
    Ok((opened.dev(), opened.ino()) == (named.dev(), named.ino()))
}

#[cfg(not(unix))]
fn is_named(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Description of the holder of a lock, without control characters.
fn holder(file: &mut File) -> String {
    let mut bytes = Vec::new();
    // Only for the message, so errors do not matter.
    let _ = file.take(HOLDER_BYTES).read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim().replace(char::is_control, "?");
    if text.is_empty() { "another kalah process".to_owned() } else { text }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        if self.removed {
            // If it stays, the next process locks it again.
            let _ = std::fs::remove_file(&self.path);
        }
        // Closing the file alone could leave it locked while a child process that is being started
        // still has it open.
        let _ = self.file.unlock();
    }
}
