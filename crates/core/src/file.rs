//! Regular files, opened without blocking; anything else is an error.

use std::error::Error;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::ops::Range;
use std::path::Path;

/// Opens the regular file at `path` for reading. It never waits, as for the writer of a named pipe.
///
/// # Errors
/// When it cannot be opened or is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(path, OpenOptions::new().read(true))
}

/// Opens the regular file at `path` with `options`: see [`open`].
pub fn open_with(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // With this flag, opening a pipe without a writer returns at once. Regular files are unaffected.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NONBLOCK);
    // Opening a socket, or a directory or readerless pipe for writing, fails with an obscure system error.
    let obscure = |error| path.metadata().ok().and_then(|metadata| refusal(&metadata)).unwrap_or(error);
    let file = options.open(path).map_err(obscure)?;
    refusal(&file.metadata()?).map_or(Ok(file), Err)
}

/// Reads the bytes of the regular file at `path`: see [`open`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a part of a file.
///
/// # Errors
/// When it cannot be read, is beyond the end of the file, or does not fit in memory.
pub fn read_part(file: &File, part: Range<u64>) -> io::Result<Vec<u8>> {
    let (mut bytes, count) = (Vec::new(), (part.end - part.start) as usize);
    bytes.try_reserve_exact(count).map_err(|_| ErrorKind::OutOfMemory)?;
    bytes.resize(count, 0);
    read_exact_at(file, &mut bytes, part.start)?;
    Ok(bytes)
}

/// Fills `buffer` with the bytes of a file from `offset` on. A file that is too short is an error.
pub fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset);
    #[cfg(windows)]
    {
        let (mut buffer, mut offset) = (buffer, offset);
        while !buffer.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(file, buffer, offset) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(read) => (buffer, offset) = (&mut buffer[read..], offset + read as u64),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
    #[cfg(not(any(unix, windows)))]
    {
        let _ = (file, buffer, offset);
        Err(ErrorKind::Unsupported.into())
    }
}

/// Writes `bytes` to a file from `offset` on.
pub(crate) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::write_all_at(file, bytes, offset);
    #[cfg(windows)]
    {
        let (mut bytes, mut offset) = (bytes, offset);
        while !bytes.is_empty() {
            let written = std::os::windows::fs::FileExt::seek_write(file, bytes, offset)?;
            (bytes, offset) = (&bytes[written..], offset + written as u64);
        }
        Ok(())
    }
    #[cfg(not(any(unix, windows)))]
    {
        let _ = (file, bytes, offset);
        Err(ErrorKind::Unsupported.into())
    }
}

/// Reads the text of the regular file at `path`: see [`open`]. Text that is not UTF-8 is an error.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Returns an error if `path` exists and is not a regular file, or its type cannot be determined.
pub fn require_regular(path: &Path) -> io::Result<()> {
    found(path.metadata())?.and_then(|metadata| refusal(&metadata)).map_or(Ok(()), Err)
}

/// An error of a file, which it names.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
pub struct InFile<E: Error + 'static> {
    /// The file.
    pub path: Box<Path>,
    /// The reason.
    #[source]
    pub error: E,
}

impl<E: Error> InFile<E> {
    /// Returns a function that adds the name of the file to its error.
    pub fn of(path: &Path) -> impl Fn(E) -> InFile<E> {
        move |error| InFile { path: path.into(), error }
    }
}

/// Turns the error for a file that does not exist into `None`; other errors stay.
pub fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// The error for a file with this metadata; `None` for a regular file.
fn refusal(metadata: &Metadata) -> Option<io::Error> {
    if metadata.is_file() {
        return None;
    }
    let (kind, is) = match metadata.is_dir() {
        true => (ErrorKind::IsADirectory, "it is a directory, not a regular file"),
        false => (ErrorKind::InvalidInput, "it is not a regular file"),
    };
    Some(io::Error::new(kind, is))
}
