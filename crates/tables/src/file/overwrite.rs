use std::io;
use std::path::Path;

use kalah_core::file::{found, require_regular};

use super::FileContent;

/// Reasons why a file is not replaced, as the content of an [`io::Error`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OverwriteError {
    /// The file holds work of this program, and the new file would have other content.
    #[error("it is {0}, and only another file of that kind may replace it")]
    Content(FileContent),
    /// The same command reads the file.
    #[error("it is also an input")]
    Input,
}

impl From<OverwriteError> for io::Error {
    fn from(error: OverwriteError) -> io::Error {
        io::Error::new(io::ErrorKind::AlreadyExists, error)
    }
}

/// Returns an error if writing the file `path` would lose work of this program: if it is one of its
/// files, with a content other than `content`. `None` means that the new file is not of this
/// program.
///
/// # Errors
/// An [`OverwriteError`]; or when `path` is something other than a regular file, or cannot be read.
pub fn require_replaceable(path: &Path, content: Option<FileContent>) -> io::Result<()> {
    require_regular(path)?;
    match FileContent::of(path) {
        Ok(Some(found)) if Some(found) != content => Err(OverwriteError::Content(found).into()),
        Ok(_) => Ok(()),
        // It is replaced without being read.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns an error if the file `output` is one of `inputs`, under any name.
///
/// # Errors
/// [`OverwriteError::Input`]; or when a file cannot be looked up.
pub fn require_apart<'a>(output: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> io::Result<()> {
    for input in inputs {
        if is_same(output, input)? {
            return Err(OverwriteError::Input.into());
        }
    }
    Ok(())
}

/// Returns true if both are names of one existing file.
fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let (one, other) = (found(one.metadata())?, found(other.metadata())?);
        Ok(one.zip(other).is_some_and(|(one, other)| (one.dev(), one.ino()) == (other.dev(), other.ino())))
    }
    #[cfg(not(unix))]
    {
        let (one, other) = (found(one.canonicalize())?, found(other.canonicalize())?);
        Ok(one.zip(other).is_some_and(|(one, other)| one == other))
    }
}
