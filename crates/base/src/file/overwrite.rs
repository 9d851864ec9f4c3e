use std::fs::OpenOptions;
use std::io::{self, ErrorKind};
use std::path::Path;

use kalah_core::file::{found, open_with, require_regular};

use super::FileContent;
use crate::diagnostic::{Commands, Diagnosis, Diagnostic, Outcome};

/// Reasons why a file is not replaced, as the content of an [`io::Error`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OverwriteError {
    /// The file holds work of this program, and the new file would have other content.
    #[error("it is {0}, and only another file of that kind may replace it")]
    Content(FileContent),
    /// The file has bytes that are not of this program.
    #[error("it has content that kalah did not write, and is not replaced")]
    Foreign,
    /// The file may not be written.
    #[error("it is read-only, and is not replaced")]
    ReadOnly,
    /// The file may not be read, so its content is unknown.
    #[error("it cannot be read, and is not replaced")]
    Unreadable,
    /// The name stands for standard output.
    #[error("this output needs a file, and cannot go to standard output")]
    StandardOutput,
    /// The same command reads the file.
    #[error("it is also an input")]
    Input,
}

impl OverwriteError {
    /// Returns true if `error` is that of a file which is not of this program.
    pub fn is_foreign(error: &io::Error) -> bool {
        error.get_ref().and_then(|inner| inner.downcast_ref()) == Some(&OverwriteError::Foreign)
    }
}

impl Diagnostic for OverwriteError {
    fn diagnosis(&self, _: &dyn Commands) -> Diagnosis {
        match self {
            OverwriteError::StandardOutput => Outcome::Failed.help("name a file; `./-` is one of this name"),
            OverwriteError::Input => Outcome::Failed.help("choose another file"),
            _ => Outcome::Failed.help("choose another name, or move that file away"),
        }
    }
}

impl From<OverwriteError> for io::Error {
    fn from(error: OverwriteError) -> io::Error {
        io::Error::new(ErrorKind::AlreadyExists, error)
    }
}

/// Returns an error if writing the file `path` would lose work. A file may be replaced if it is empty,
/// or has `content` and may be read and written. All commands follow this rule.
///
/// # Errors
/// An [`OverwriteError`]; or when `path` is something other than a regular file, or cannot be read.
pub fn require_replaceable(path: &Path, content: Option<FileContent>) -> io::Result<()> {
    require_unprotected(path)?;
    let Some(metadata) = found(path.metadata())? else { return Ok(()) };
    match FileContent::of(path) {
        Ok(Some(found)) if Some(found) != content => Err(OverwriteError::Content(found).into()),
        Ok(None) if metadata.len() > 0 => Err(OverwriteError::Foreign.into()),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(OverwriteError::Unreadable.into()),
        Err(error) => Err(error),
    }
}

/// Returns an error unless `path` names a regular file that may be written, or none.
///
/// # Errors
/// An [`OverwriteError`]; or when `path` is something else, or cannot be looked up.
pub fn require_unprotected(path: &Path) -> io::Result<()> {
    if path == Path::new("-") {
        return Err(OverwriteError::StandardOutput.into());
    }
    require_regular(path)?;
    // A process with all rights can write any file.
    if found(path.metadata())?.is_some_and(|metadata| metadata.permissions().readonly()) {
        return Err(OverwriteError::ReadOnly.into());
    }
    match open_with(path, OpenOptions::new().write(true)) {
        Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
            Err(OverwriteError::ReadOnly.into())
        }
        opened => found(opened).map(drop),
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
///
/// # Errors
/// When a file cannot be looked up.
pub fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
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
