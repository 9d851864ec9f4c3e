use std::path::Path;

use memmap2::Mmap;

#[cfg(unix)]
use super::bus_error::Registration;
use super::error::TableError;
use crate::file;

/// A mapped file, to be read from.
///
/// If the file becomes shorter, reading the lost pages ends the program with the signal SIGBUS. Mapped files are registered so
/// that [`super::report_bus_errors`] can name the file.
pub(super) struct Mapping {
    /// Dropped before the memory is unmapped, and perhaps mapped to something else.
    #[cfg(unix)]
    _registration: Registration,
    map: Mmap,
}

impl Mapping {
    /// Maps the table file at `path`.
    ///
    /// # Errors
    /// When it cannot be opened or mapped, or is not a regular file.
    pub fn open(path: &Path) -> Result<Mapping, TableError> {
        let file = file::open(path).map_err(TableError::io(path))?;
        // SAFETY: finished tables are never written to again, only replaced by renaming. A mapping cannot guard against
        // another program that changes the file; for truncation see above.
        let map = unsafe { Mmap::map(&file) };
        let bytes = file.metadata().map_or(0, |metadata| metadata.len());
        let map = map.map_err(TableError::mapping(path, bytes))?;
        Ok(Mapping {
            #[cfg(unix)]
            _registration: Registration::new(&map, path),
            map,
        })
    }
}

impl std::ops::Deref for Mapping {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.map
    }
}
