//! Companion files: those that the program makes beside the files that a user names, such as locks,
//! unfinished files, logs and leases. Their names are not chosen by anybody, so a user may have a
//! file of that name. A companion that the program did not write is never changed or removed, and
//! no link is followed.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek};
use std::path::Path;

use kalah_core::file::{found, open_unlinked};

use super::FileContent;
use super::kind::FIRST_BYTES;
use crate::diagnostic::{Commands, Diagnosis, Diagnostic, Outcome};

/// Reasons why a companion file is left as it is, as the content of an [`io::Error`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompanionError {
    /// It was not made by this program.
    #[error("it is not {0}, and is left as it is")]
    Foreign(FileContent),
    /// It is a link to a file that may belong to something else.
    #[error("it is a link, through which nothing is written")]
    Link,
}

impl Diagnostic for CompanionError {
    fn diagnosis(&self, _: &dyn Commands) -> Diagnosis {
        Outcome::Failed.help("move it away, or choose another name or directory")
    }
}

impl From<CompanionError> for io::Error {
    fn from(error: CompanionError) -> io::Error {
        io::Error::new(ErrorKind::AlreadyExists, error)
    }
}

/// Opens the companion file `path`, or creates it. `options` allow reading and writing. In a
/// directory that a group shares, a new file can be written by the group.
///
/// # Errors
/// A [`CompanionError`] if it is a link, or has another content than `content`; or when it cannot
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
/// [`CompanionError::Link`]; or when the type of `path` cannot be determined.
pub fn refuse_link(path: &Path) -> io::Result<()> {
    match found(path.symlink_metadata())? {
        Some(metadata) if metadata.is_symlink() => Err(CompanionError::Link.into()),
        _ => Ok(()),
    }
}

/// Returns an error if the companion file `path` exists, and is a link or has another content than
/// `content`. An empty file is no error.
///
/// # Errors
/// A [`CompanionError`]; or when the file cannot be read.
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
    error.get_ref().is_some_and(|inner| inner.is::<CompanionError>())
}

/// Returns an error if the content of `file` is not `content`.
pub(super) fn require_content(mut file: &File, content: FileContent) -> io::Result<()> {
    let mut bytes = Vec::new();
    file.take(FIRST_BYTES).read_to_end(&mut bytes)?;
    file.rewind()?;
    if content.may_begin(&bytes) { Ok(()) } else { Err(CompanionError::Foreign(content).into()) }
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
