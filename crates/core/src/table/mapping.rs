use std::path::Path;

use memmap2::Mmap;

#[cfg(unix)]
use super::bus_error::Registration;
use super::error::TableError;
use crate::file;

/// Memory that a table is read from: a mapped file, or a copy of one.
///
/// A file that becomes shorter while it is mapped leaves pages that nothing can be read from: the system ends the program
/// with the signal SIGBUS. Mapped files are registered, so that [`super::report_bus_errors`] can name the one to blame.
pub(super) struct Mapping {
    #[cfg(unix)]
    registration: Option<Registration>,
    map: Mmap,
}

impl Mapping {
    /// Maps the table file at `path`.
    ///
    /// # Errors
    /// When it cannot be opened or mapped, or is not a regular file.
    pub fn open(path: &Path) -> Result<Mapping, TableError> {
        let file = file::open(path).map_err(TableError::io(path))?;
        // SAFETY: finished tables are never written to again, only replaced by renaming. Another program that changes the
        // file under us is outside what a mapping can guard against; of one that truncates it see above.
        let map = unsafe { Mmap::map(&file) };
        let bytes = file.metadata().map_or(0, |metadata| metadata.len());
        let map = map.map_err(TableError::mapping(path, bytes))?;
        #[cfg(unix)]
        let registration = Some(Registration::new(&map, path));
        Ok(Mapping {
            #[cfg(unix)]
            registration,
            map,
        })
    }

    /// Memory that no file is mapped to.
    pub fn of_memory(map: Mmap) -> Mapping {
        Mapping {
            #[cfg(unix)]
            registration: None,
            map,
        }
    }
}

impl std::ops::Deref for Mapping {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.map
    }
}

#[cfg(unix)]
impl Drop for Mapping {
    fn drop(&mut self) {
        // Before the memory is given back, and perhaps taken by somebody else.
        self.registration = None;
    }
}
