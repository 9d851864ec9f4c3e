use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use super::error::TableError;
use super::mapping::Mapping;
use super::opening::Storage;
use crate::file;

/// The bytes of a file: mapped, or in memory.
pub(super) enum Bytes {
    Mapped(Mapping),
    Owned(Vec<u8>),
}

impl Bytes {
    /// Maps or reads the file at `path`.
    ///
    /// # Errors
    /// When it cannot be opened, mapped or read, is not a regular file, or does not fit in memory.
    pub(super) fn open(path: &Path, storage: Storage) -> Result<Bytes, TableError> {
        Bytes::of(file::open(path).map_err(TableError::io(path))?, path, storage)
    }

    /// Maps or reads the table file `file`, which was opened at `path`.
    ///
    /// # Errors
    /// When it cannot be mapped or read, or does not fit in memory.
    pub(super) fn of(file: File, path: &Path, storage: Storage) -> Result<Bytes, TableError> {
        let file = match if storage.is_mapped() { Mapping::of(file, path)? } else { Err(file) } {
            Ok(map) => return Ok(Bytes::Mapped(map)),
            Err(file) => file,
        };
        let bytes = file.metadata().map_err(TableError::io(path))?.len();
        let read = file::read_part(&file, 0..bytes);
        read.map(Bytes::Owned).map_err(|error| match error.kind() {
            ErrorKind::OutOfMemory => TableError::out_of_memory(path, bytes),
            _ => TableError::io(path)(error),
        })
    }
}

impl std::ops::Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}
