//! Directories for temporary files of a command. If it is killed, the next command removes them.
//!
//! Each contains a lock file that its process has locked. The system releases the lock when the
//! process ends, however it ends, so a directory whose lock can be taken is abandoned.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use tempfile::TempDir;

/// Prefix of the names of all such directories. The process id and a random part follow.
pub const PREFIX: &str = "kalah-temporary-";

/// The lock file in each of them.
const LOCK_FILE: &str = "in-use.lock";

/// Number of attempts if another process removes the new directory before it is locked.
const ATTEMPTS: u32 = 100;

/// A directory that is removed when dropped; or, if the process is killed, when the next one is
/// made in the same place.
#[derive(Debug)]
pub struct TemporaryDirectory {
    // Dropped before the lock, so that no other process removes it meanwhile.
    directory: TempDir,
    _lock: File,
}

impl TemporaryDirectory {
    /// Creates a directory in `parent`, and removes those there whose processes have ended.
    ///
    /// # Errors
    /// When the directory or its lock file cannot be created.
    pub fn new_in(parent: &Path) -> io::Result<TemporaryDirectory> {
        remove_dead(parent);
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let mut error = io::Error::from(io::ErrorKind::NotFound);
        for _ in 0..ATTEMPTS {
            let directory = tempfile::Builder::new().prefix(&prefix).tempdir_in(parent)?;
            match locked(directory.path()) {
                Ok(lock) => return Ok(TemporaryDirectory { directory, _lock: lock }),
                Err(lost) if matches!(lost.kind(), io::ErrorKind::NotFound | io::ErrorKind::WouldBlock) => error = lost,
                Err(error) => return Err(error),
            }
        }
        Err(error)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Locks a new directory; `NotFound` or `WouldBlock` if another process is removing it.
fn locked(directory: &Path) -> io::Result<File> {
    let path = directory.join(LOCK_FILE);
    let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
    match file.try_lock() {
        // A process that removes a directory holds its lock until the file is gone.
        Ok(()) => path.symlink_metadata().map(|_| file),
        Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
        // On a file system without locks no other process can consider the directory abandoned.
        Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// Removes the temporary directories of this user in `parent` whose processes have ended, if the
/// file system has locks. Files that cannot be removed stay until the next time.
pub fn remove_dead(parent: &Path) {
    let Ok(entries) = parent.read_dir() else { return };
    for entry in entries.flatten() {
        let named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if named && entry.path().symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            let _ = remove_if_dead(&entry.path());
        }
    }
}

fn remove_if_dead(directory: &Path) -> io::Result<()> {
    let path = directory.join(LOCK_FILE);
    let lock = match path.symlink_metadata() {
        // In a directory that everyone can write to, like /tmp, anyone can create a directory with
        // such a name.
        Ok(metadata) if metadata.is_file() && is_own(&metadata) => File::open(&path)?,
        Ok(_) => return Ok(()),
        // Its process was killed before it locked it, or has just created it. Removal fails unless
        // the directory is empty.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return std::fs::remove_dir(directory),
        Err(error) => return Err(error),
    };
    if lock.try_lock().is_err() {
        return Ok(());
    }
    // The lock file goes last, so that the next process can resume an interrupted removal.
    for entry in directory.read_dir()?.flatten().filter(|entry| entry.file_name() != LOCK_FILE) {
        if entry.file_type()?.is_dir() {
            std::fs::remove_dir_all(entry.path())?;
        } else {
            std::fs::remove_file(entry.path())?;
        }
    }
    std::fs::remove_file(path)?;
    std::fs::remove_dir(directory)
}

/// Returns true if the file belongs to the user who runs this process.
#[cfg(unix)]
fn is_own(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let own = tempfile::tempfile().and_then(|file| file.metadata());
    own.is_ok_and(|own| own.uid() == metadata.uid())
}

#[cfg(not(unix))]
fn is_own(_metadata: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes the leftovers of a killed process: a directory with a file, and a lock that no process
    /// holds.
    fn dead(parent: &Path) -> std::path::PathBuf {
        let directory = parent.join(format!("{PREFIX}1-abcdef"));
        std::fs::create_dir_all(directory.join("inner")).unwrap();
        std::fs::write(directory.join("inner/file"), "much").unwrap();
        std::fs::write(directory.join(LOCK_FILE), "").unwrap();
        directory
    }

    #[test]
    fn dead_directories_go_and_living_ones_stay() {
        let parent = tempfile::tempdir().unwrap();
        let other = parent.path().join("kalah-other");
        std::fs::create_dir(&other).unwrap();
        let first = TemporaryDirectory::new_in(parent.path()).unwrap();
        std::fs::write(first.path().join("file"), "in use").unwrap();
        let dead = dead(parent.path());
        let second = TemporaryDirectory::new_in(parent.path()).unwrap();
        assert!(!dead.exists());
        assert_eq!(std::fs::read_to_string(first.path().join("file")).unwrap(), "in use");
        let paths = [first.path().to_owned(), second.path().to_owned()];
        drop((first, second));
        assert!(paths.iter().all(|path| !path.exists()));
        assert!(other.exists());
    }

    #[test]
    fn directories_that_are_made_and_removed_at_once_do_no_harm() {
        let parent = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for number in 0..50 {
                        let directory = TemporaryDirectory::new_in(parent.path()).unwrap();
                        let file = directory.path().join("file");
                        std::fs::write(&file, number.to_string()).unwrap();
                        remove_dead(parent.path());
                        assert_eq!(std::fs::read_to_string(&file).unwrap(), number.to_string());
                    }
                });
            }
        });
        assert_eq!(parent.path().read_dir().unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let (parent, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(elsewhere.path().join("kept"), "").unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), parent.path().join(format!("{PREFIX}2-link"))).unwrap();
        let dead = dead(parent.path());
        std::os::unix::fs::symlink(elsewhere.path(), dead.join("link")).unwrap();
        remove_dead(parent.path());
        assert!(!dead.exists() && elsewhere.path().join("kept").exists());
    }
}
