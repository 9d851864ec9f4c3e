//! Where the bytes of a table come from.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::file;

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
    /// When they cannot be read. An error that carries a [`Damage`](crate::table::Damage) means that the origin holds
    /// another file, and one with [`Stopped`](crate::cancel::Stopped) that nobody waits for the parts any more.
    fn read(&self, parts: &[Range<u64>], again: bool) -> io::Result<Vec<Vec<u8>>>;

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
    /// Opens the regular file at `path` for reading.
    ///
    /// # Errors
    /// As [`file::open`].
    pub fn open(path: &Path) -> io::Result<LocalFile> {
        let file = file::open(path)?;
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

    fn read(&self, parts: &[Range<u64>], _: bool) -> io::Result<Vec<Vec<u8>>> {
        parts.iter().map(|part| file::read_part(&self.file, part.clone())).collect()
    }

    fn local(&self) -> Option<&LocalFile> {
        Some(self)
    }
}
