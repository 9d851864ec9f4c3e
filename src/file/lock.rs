use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::{beside, open_with};

/// The most bytes that are shown of what a holder wrote about itself.
const HOLDER_BYTES: u64 = 1000;

/// The right to write to something, held by one process at a time and given back when it ends, however it ends.
///
/// The operating system holds the lock on a file of its own, in which the holder is named. Files that are replaced whole
/// cannot be locked themselves: the lock would stay with the old one.
#[derive(Debug)]
pub struct FileLock {
    file: File,
    path: PathBuf,
    /// Whether the file is removed when the lock is given back.
    removed: bool,
}

/// Why a lock could not be taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Another process holds it.
    #[error("{path} is in use by {holder}")]
    Held {
        /// What is locked.
        path: PathBuf,
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

impl FileLock {
    /// Takes the lock of the file `path`, which need not be there; a file beside it, with `.lock` added to its name, is
    /// there as long as the lock is held.
    ///
    /// # Errors
    /// When another process holds the lock, or the lock file cannot be made.
    pub fn beside(path: &Path) -> Result<FileLock, LockError> {
        let mut lock = FileLock::take(beside(path, ".lock"), path)?;
        // Elsewhere a name is not free as long as another process has the file open.
        lock.removed = cfg!(unix);
        Ok(lock)
    }

    /// Takes the lock on the file `lock`, which stays where it is, to write to `path`.
    ///
    /// # Errors
    /// When another process holds the lock, or the lock file cannot be made.
    pub fn take(lock: PathBuf, path: &Path) -> Result<FileLock, LockError> {
        let io = |source| LockError::Io { path: lock.clone(), source };
        let mut file = loop {
            let options = &mut OpenOptions::new();
            let mut file = open_with(&lock, options.read(true).write(true).create(true).truncate(false)).map_err(io)?;
            match file.try_lock() {
                // Its last holder may have removed it since it was opened, and another process made a new one.
                Ok(()) if is_named(&file, &lock).map_err(io)? => break file,
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(LockError::Held { path: path.to_owned(), holder: holder(&mut file) });
                }
                Err(TryLockError::Error(source)) => return Err(io(source)),
            }
        };
        let command: Vec<_> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        file.set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| writeln!(file, "process {} ({})", std::process::id(), command.join(" ")))
            .map_err(io)?;
        Ok(FileLock { file, path: lock, removed: false })
    }
}

/// Whether `path` still names the file that was opened there.
#[cfg(unix)]
fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let named = match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        named => named?,
    };
    let opened = file.metadata()?;
    Ok((opened.dev(), opened.ino()) == (named.dev(), named.ino()))
}

#[cfg(not(unix))]
fn is_named(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// What the holder of a lock wrote about itself, without anything that a terminal would obey.
fn holder(file: &mut File) -> String {
    let mut bytes = Vec::new();
    // It helps; its absence changes nothing.
    let _ = file.take(HOLDER_BYTES).read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim().replace(char::is_control, "?");
    if text.is_empty() { "another kalah process".to_owned() } else { text }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        if self.removed {
            // One that stays is taken again.
            let _ = std::fs::remove_file(&self.path);
        }
        // Closing the file would leave it locked for as long as a process that is just being started still has it open.
        let _ = self.file.unlock();
    }
}
