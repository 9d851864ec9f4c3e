//! One table in several directories: the first one is read, and all must be the same table.

use super::error::TableError;
use super::key::TableKey;
use super::opening::{header, source};
use crate::directories::{Directories, Place};

/// The first of `directories` that has the table `key`, or else the first of all.
///
/// # Errors
/// When a later directory has another table under this name, by the digests in the headers, or one
/// of these headers cannot be read or is damaged. Only headers are read, and only of copies.
pub(super) fn table_place(directories: &Directories, key: TableKey) -> Result<&Place, TableError> {
    let name = key.file_name();
    let first = directories.place(&name);
    let others = directories.places().iter().filter(|place| *place != first && place.has(&name));
    // A single directory is not searched.
    let mut others = others.take(directories.places().len() - 1).peekable();
    if others.peek().is_none() {
        return Ok(first);
    }
    let digest = |place: &Place| {
        let header = header(&*source(place, &name)?)?;
        TableError::unless_expected(&place.file(&name), header.key, key).map(|()| header.digest)
    };
    let expected = digest(first)?;
    for other in others {
        if digest(other)? != expected {
            return Err(TableError::Copies { path: first.file(&name), other: other.file(&name) });
        }
    }
    Ok(first)
}
