use kalah_base::progress::Pulse;
use kalah_core::directories::Directories;
use kalah_core::table::{Damage, TableError, TableKey};

use super::Fault;
use crate::table::archive::{self, archive_path};

/// Checks the archive of `key` in the first of `directories` that has it: every chunk against its
/// checksum, and the table that it decompresses to against the digest of the compressed one. Returns its
/// positions, which `pulse` counts meanwhile.
///
/// Memory: [`archive::decompress_memory`]. Nothing is written.
///
/// # Errors
/// The first damaged chunk, another table than that of its name or header, or [`Fault::Stopped`]
/// when `pulse` was stopped.
pub fn check_archive(directories: impl Into<Directories>, key: TableKey, pulse: &Pulse) -> Result<u64, Fault> {
    let path = archive_path(directories, key);
    let found = archive::read_info(&path)?.key;
    if found != key {
        return Err(TableError::damaged_archive(&path, Damage::Other { found, expected: key }).into());
    }
    Ok(archive::check(&path, pulse)?.positions)
}
