//! One table in several directories: the first one is read, and all must be the same table.

use std::path::PathBuf;

use super::error::TableError;
use super::key::TableKey;
use super::read_at::ReadAtTable;
use crate::directories::Directories;

/// Path of the table `key` in the first of `directories` that has it, or else in the first of all.
///
/// # Errors
/// When a later directory has another table under this name, by the digests in the headers, or one
/// of these headers cannot be read or is damaged. Only headers are read, and only of copies.
pub(super) fn table_path(directories: &Directories, key: TableKey) -> Result<PathBuf, TableError> {
    let path = directories.file(&key.file_name());
    if directories.single().is_some() {
        return Ok(path);
    }
    let copies = directories.paths().iter().map(|directory| key.path(directory));
    let mut others = copies.filter(|copy| *copy != path && copy.exists()).peekable();
    if others.peek().is_none() {
        return Ok(path);
    }
    let digest = ReadAtTable::open(&path)?.header().digest;
    for other in others {
        if ReadAtTable::open(&other)?.header().digest != digest {
            return Err(TableError::Copies { path, other });
        }
    }
    Ok(path)
}
