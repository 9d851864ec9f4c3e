use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek};
use std::path::Path;

use kalah_core::cancel::Stopped;
use kalah_core::cause;
use kalah_core::file::{found, open_unlinked, open_with, require_regular};
use kalah_core::table::{ProbeError, TableError};

use super::FileContent;
use super::kind::FIRST_BYTES;
use crate::diagnostic::{Commands, Diagnosis, Diagnostic, Outcome};

/// Reasons why a file is not replaced, or not written to, as the content of an [`io::Error`].
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
    /// A companion file was not made by this program.
    #[error("it is not {0}, and is left as it is")]
    Companion(FileContent),
    /// A companion file is a link to a file that may belong to something else.
    #[error("it is a link, through which nothing is written")]
    Link,
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
            OverwriteError::Companion(_) | OverwriteError::Link => {
                Outcome::Failed.help("move it away, or choose another name or directory")
            }
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
pub(super) fn require_unprotected(path: &Path) -> io::Result<()> {
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

/// Opens the companion file `path`, or creates it. `options` allow reading and writing. In a
/// directory that a group shares, a new file can be written by the group.
///
/// # Errors
/// An [`OverwriteError`] if it is a link, or has another content than `content`; or when it cannot
/// be opened.
pub fn open_companion(path: &Path, content: FileContent, options: &mut OpenOptions) -> io::Result<File> {
    let file = open_or_create(path, options)?;
    require_content(&file, content)?;
    Ok(file)
}

/// Opens or creates a companion file, of any content.
pub(super) fn open_or_create(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    loop {
        match open_existing(path, options) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            opened => return opened,
        }
        match open_unlinked(path, options.clone().create_new(true)) {
            // Another process created it just now.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            created => {
                let file = created?;
                share_with_group(&file, path);
                return Ok(file);
            }
        }
    }
}

/// Opens an existing companion file, of any content.
pub(super) fn open_existing(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    refuse_link(path)?;
    open_unlinked(path, options)
}

/// Returns an error if `path` is a link.
///
/// # Errors
/// [`OverwriteError::Link`]; or when the type of `path` cannot be determined.
pub fn refuse_link(path: &Path) -> io::Result<()> {
    match found(path.symlink_metadata())? {
        Some(metadata) if metadata.is_symlink() => Err(OverwriteError::Link.into()),
        _ => Ok(()),
    }
}

/// Returns an error if the companion file `path` exists, and is a link or has another content than
/// `content`. An empty file is no error.
///
/// # Errors
/// An [`OverwriteError`]; or when the file cannot be read.
pub fn require_own(path: &Path, content: FileContent) -> io::Result<()> {
    match found(open_existing(path, OpenOptions::new().read(true)))? {
        Some(file) => require_content(&file, content),
        None => Ok(()),
    }
}

/// Removes the companion file `path` if it exists and its content is `content`. Others stay.
///
/// # Errors
/// When it cannot be read or removed.
pub fn remove_own(path: &Path, content: FileContent) -> io::Result<()> {
    match require_own(path, content) {
        Err(error) if is_companion_error(&error) => Ok(()),
        // Something other than a regular file.
        Err(_) if path.symlink_metadata().is_ok_and(|metadata| !metadata.is_file()) => Ok(()),
        own => own.and_then(|()| found(std::fs::remove_file(path)).map(drop)),
    }
}

fn is_companion_error(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    matches!(inner, Some(OverwriteError::Companion(_) | OverwriteError::Link))
}

/// Returns an error if the content of `file` is not `content`.
pub(super) fn require_content(mut file: &File, content: FileContent) -> io::Result<()> {
    let mut bytes = Vec::new();
    file.take(FIRST_BYTES).read_to_end(&mut bytes)?;
    file.rewind()?;
    if content.may_begin(&bytes) { Ok(()) } else { Err(OverwriteError::Companion(content).into()) }
}

/// Lets the group write a new file if it may write the directory, whatever the user's mask: there,
/// others of the group go on with this work.
#[cfg(unix)]
fn share_with_group(file: &File, path: &Path) {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    const GROUP_WRITES: u32 = 0o020;
    let (Ok(own), Ok(directory)) = (file.metadata(), super::directory_of(path).metadata()) else { return };
    if directory.mode() & GROUP_WRITES != 0 && directory.gid() == own.gid() {
        // Without it, others of the group can only read the file.
        let _ = file.set_permissions(std::fs::Permissions::from_mode(own.mode() & 0o777 | 0o040 | GROUP_WRITES));
    }
}

#[cfg(not(unix))]
fn share_with_group(_: &File, _: &Path) {}

/// An error of the library that it carries has the diagnosis.
impl Diagnostic for io::Error {
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        fn of<E: Diagnostic + 'static>(error: &(dyn Error + 'static), commands: &dyn Commands) -> Option<Diagnosis> {
            error.downcast_ref::<E>().map(|error| error.diagnosis(commands))
        }
        let known = |error| {
            of::<TableError>(error, commands)
                .or_else(|| of::<ProbeError>(error, commands))
                .or_else(|| of::<OverwriteError>(error, commands))
                .or_else(|| of::<Stopped>(error, commands))
        };
        cause::chain(self).find_map(known).unwrap_or(Outcome::Failed.into())
    }

    fn is_closed_pipe(&self) -> bool {
        self.kind() == io::ErrorKind::BrokenPipe
    }
}
