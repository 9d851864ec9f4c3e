use std::io::{self, ErrorKind};
use std::path::Path;

use kalah_core::file::found;

pub use kalah_core::file::other_version;

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
pub fn refuse_dangling(path: &Path) -> io::Result<()> {
    let is_link = found(path.symlink_metadata())?.is_some_and(|metadata| metadata.is_symlink());
    if !is_link || found(path.metadata())?.is_some() {
        return Ok(());
    }
    let target = std::fs::read_link(path).unwrap_or_default();
    let message = format!("it is a link to {}, which does not exist", target.display());
    Err(io::Error::new(ErrorKind::InvalidInput, message))
}
