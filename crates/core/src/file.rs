//! Where bytes come from. Regular files are opened without blocking; anything else is an error.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::cancel::Stopped;

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

/// Reasons why bytes of a [`Source`] are not read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// They cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Nobody waits for them any more.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Where the bytes of a table come from: a file, memory of another language, a file on another machine.
///
/// Nothing that it gives is trusted: [`crate::table::Table`] compares blocks with their checksums.
pub trait Source: Send + Sync {
    /// The file, for messages.
    fn name(&self) -> &Path;

    /// Number of bytes.
    fn bytes(&self) -> u64;

    /// Reads these parts, in this order. `again` is true if bytes read before were damaged, so that no cache on the way
    /// may answer.
    ///
    /// # Errors
    /// When they cannot be read, or nobody waits for them any more.
    fn read(&self, parts: &[Range<u64>], again: bool) -> Result<Vec<Vec<u8>>, SourceError>;

    /// The file on this machine with the bytes, in the same places. It may lack bytes of a [remote](Source::is_remote)
    /// source that were not read so far; they are written to it once they were read and found valid.
    fn local(&self) -> Option<&LocalFile> {
        None
    }

    /// Returns true if reading is slow, so that parts are read ahead, together, and kept in the local file.
    fn is_remote(&self) -> bool {
        false
    }
}

/// A file of this machine, read at offsets.
#[derive(Debug)]
pub struct LocalFile {
    /// Its path.
    pub path: PathBuf,
    /// The file.
    pub file: File,
    /// Its length when it was opened.
    pub bytes: u64,
}

impl LocalFile {
    /// Opens the regular file at `path` for reading: see [`open`].
    pub fn open(path: &Path) -> io::Result<LocalFile> {
        let file = open(path)?;
        Ok(LocalFile { path: path.to_owned(), bytes: file.metadata()?.len(), file })
    }
}

impl Source for LocalFile {
    fn name(&self) -> &Path {
        &self.path
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads the parts. A file that became shorter is an error, wherever they are.
    fn read(&self, parts: &[Range<u64>], _: bool) -> Result<Vec<Vec<u8>>, SourceError> {
        if self.file.metadata()?.len() < self.bytes {
            return Err(io::Error::from(ErrorKind::UnexpectedEof).into());
        }
        Ok(parts.iter().map(|part| read_part(&self.file, part.clone())).collect::<io::Result<_>>()?)
    }

    fn local(&self) -> Option<&LocalFile> {
        Some(self)
    }
}
