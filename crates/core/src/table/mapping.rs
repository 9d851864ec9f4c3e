use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::time::SystemTime;

use memmap2::Mmap;

#[cfg(unix)]
use super::bus_error::Registration;
use super::error::TableError;
use crate::file;

/// Attributes of a file that the system changes whenever it is written to. They show that a file was changed even if it
/// holds the same bytes again; writes through a mapping may not change them at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp {
    bytes: u64,
    modified: Option<SystemTime>,
    /// Seconds and nanoseconds of the last change of content or attributes, which programs cannot set.
    #[cfg(unix)]
    changed: (i64, i64),
}

/// A mapped file, to be read from.
///
/// If the file becomes shorter, reading the lost pages ends the program with the signal SIGBUS. Mapped files are registered so
/// that [`super::report_bus_errors`] can name the file.
pub(super) struct Mapping {
    /// Dropped before the memory is unmapped, and perhaps mapped to something else.
    #[cfg(unix)]
    registration: Registration,
    map: Mmap,
    /// The file, to tell the system what of it will be read.
    file: File,
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
            registration: Registration::new(&map, path),
            map,
            file,
        })
    }

    /// Returns true if the file has all bytes that were mapped, and had them whenever they were read.
    pub fn is_whole(&self) -> bool {
        #[cfg(unix)]
        if self.registration.is_lost() {
            return false;
        }
        self.file.metadata().is_ok_and(|metadata| metadata.len() >= self.map.len() as u64)
    }

    /// Has the system read these bytes of the file, without waiting for them.
    pub fn read_ahead(&self, bytes: Range<usize>) {
        #[cfg(unix)]
        // Without it everything works, only slower.
        let _ = self.map.advise_range(memmap2::Advice::WillNeed, bytes.start, bytes.len());
        #[cfg(not(unix))]
        let _ = bytes;
    }

    /// Tells the system that single pages will be read in no order, so that it reads none around them.
    pub fn expect_random_reads(&self) {
        #[cfg(unix)]
        // Without it everything works, only slower.
        let _ = self.map.advise(memmap2::Advice::Random);
    }

    /// The attributes of the file now.
    pub fn stamp(&self) -> std::io::Result<FileStamp> {
        let metadata = self.file.metadata()?;
        Ok(FileStamp {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            changed: {
                use std::os::unix::fs::MetadataExt;
                (metadata.ctime(), metadata.ctime_nsec())
            },
        })
    }

    /// Has the system take these bytes out of the page cache, unless another process has them mapped. They can still be
    /// read, from the disk.
    pub fn release(&self, bytes: Range<usize>) {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd;
            // SAFETY: the mapping is never written to, so its pages can be read from the file again at any time.
            let _ = unsafe {
                self.map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, bytes.start, bytes.len())
            };
            let (start, length) = (bytes.start as libc::off_t, bytes.len() as libc::off_t);
            // SAFETY: the call takes no memory, and the file is open.
            unsafe { libc::posix_fadvise(self.file.as_raw_fd(), start, length, libc::POSIX_FADV_DONTNEED) };
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (bytes, &self.file);
    }
}

impl std::ops::Deref for Mapping {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.map
    }
}
