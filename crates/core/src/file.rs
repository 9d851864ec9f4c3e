//! Regular files, opened without waiting: what is not one is refused in words.

use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Opens the regular file at `path` to read it, without waiting: a named pipe under the name of a table would keep whoever
/// opens it waiting for ever, and a device may have no end.
///
/// # Errors
/// When it cannot be opened, or is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(path, OpenOptions::new().read(true))
}

/// Opens the regular file at `path` as `options` say.
///
/// # Errors
/// As [`open`].
pub fn open_with(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // A pipe without a writer is opened at once this way. Reading and writing regular files stays as it is.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NONBLOCK);
    let file = match options.open(path) {
        Ok(file) => file,
        // A socket, a pipe without a reader or a directory that is opened to be written is refused by the system, in words
        // that do not tell why.
        Err(error) => return Err(path.metadata().ok().and_then(|metadata| refusal(&metadata)).unwrap_or(error)),
    };
    match refusal(&file.metadata()?) {
        Some(refusal) => Err(refusal),
        None => Ok(file),
    }
}

/// The bytes of the regular file at `path`.
///
/// # Errors
/// As [`open`], and when the file cannot be read.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of the regular file at `path`.
///
/// # Errors
/// As [`read`], and when it is not UTF-8.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// An error unless there is a regular file at `path`, or nothing.
///
/// # Errors
/// When there is something else, or that cannot be found out.
pub fn require_regular(path: &Path) -> io::Result<()> {
    match found(path.metadata())?.and_then(|metadata| refusal(&metadata)) {
        Some(refusal) => Err(refusal),
        None => Ok(()),
    }
}

/// What was found, or `None` where the file is not there.
///
/// # Errors
/// All others.
pub fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// Why what has this metadata is not opened; `None` of a regular file.
fn refusal(metadata: &Metadata) -> Option<io::Error> {
    if metadata.is_file() {
        return None;
    }
    let kind = if metadata.is_dir() { ErrorKind::IsADirectory } else { ErrorKind::InvalidInput };
    Some(io::Error::new(kind, format!("it is {}, not a regular file", name(metadata.file_type()))))
}

/// What is not a file, as a person calls it.
fn name(kind: FileType) -> &'static str {
    if kind.is_dir() {
        return "a directory";
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a named pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
    }
    "a device"
}
