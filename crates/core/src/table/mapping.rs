use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use memmap2::{Mmap, MmapOptions};

use super::error::TableError;

/// True once files are mapped.
static MAPPED: AtomicBool = AtomicBool::new(false);

/// Makes this process map the tables that it opens from now on. Otherwise [`super::Table::open`]
/// and its callers read files into memory, where nothing can happen to them.
///
/// Mapped tables open at once and share the page cache with all processes that use them. Mapping is
/// for programs that control who writes to their files, not for libraries.
///
/// If the file of a mapped table becomes shorter, reading the lost part raises SIGBUS, which ends
/// the process.
///
/// # Safety
/// While a table is open, nobody may write to its file or shorten it: its bytes are a slice.
/// Removing the file, or renaming another over it, is safe. This library does nothing else to
/// finished tables.
pub unsafe fn map_files() {
    MAPPED.store(true, Ordering::Relaxed);
}

/// Returns true after [`map_files`].
pub(super) fn files_are_mapped() -> bool {
    MAPPED.load(Ordering::Relaxed)
}

/// A mapped file, to be read from.
pub(super) struct Mapping {
    map: Mmap,
    /// The file, for advising the system on reads.
    file: File,
}

impl Mapping {
    /// Maps the table file `file`, which was opened at `path` and whose bytes do not change. Gives the file back where
    /// its file system has no mappings.
    ///
    /// # Errors
    /// When it cannot be mapped.
    pub(super) fn of(file: File, path: &Path) -> Result<Result<Mapping, File>, TableError> {
        // SAFETY: the program guarantees it by calling `map_files`.
        let map = unsafe { Mmap::map(&file) };
        // Some file systems have private mappings only.
        // SAFETY: as above.
        let map = map.or_else(|error| if has_none(&error) { unsafe { private(&file) } } else { Err(error) });
        match map {
            Ok(map) => Ok(Ok(Mapping { map, file })),
            Err(error) if has_none(&error) => Ok(Err(file)),
            Err(error) => {
                let bytes = file.metadata().map_or(0, |metadata| metadata.len());
                Err(TableError::mapping(path, bytes)(error))
            }
        }
    }

    /// Present metadata of the file.
    pub(super) fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// Asks the system to read these bytes of the file, without waiting.
    pub(super) fn read_ahead(&self, bytes: Range<usize>) {
        #[cfg(unix)]
        // The advice only makes reading faster.
        let _ = self.map.advise_range(memmap2::Advice::WillNeed, bytes.start, bytes.len());
        #[cfg(not(unix))]
        let _ = bytes;
    }

    /// Advises the system that single pages will be read at random, so that it reads none around
    /// them.
    pub(super) fn expect_random_reads(&self) {
        #[cfg(unix)]
        // The advice only makes reading faster.
        let _ = self.map.advise(memmap2::Advice::Random);
    }

    /// Asks the system to remove these bytes from the page cache, unless another process has them
    /// mapped. They can still be read from the disk.
    pub(super) fn release(&self, bytes: Range<usize>) {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd;
            // SAFETY: the mapping is never written to, so its pages can always be read from the
            // file again.
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

/// Maps `file` as private pages, which show no later changes of the file.
///
/// # Safety
/// As [`map_files`].
unsafe fn private(file: &File) -> io::Result<Mmap> {
    // SAFETY: the caller guarantees it.
    unsafe { MmapOptions::new().map_copy_read_only(file) }
}

/// Returns true if an error means that the file system has no such mappings.
fn has_none(error: &io::Error) -> bool {
    #[cfg(unix)]
    let has_none = error.raw_os_error() == Some(libc::ENODEV);
    #[cfg(not(unix))]
    let has_none = error.kind() == io::ErrorKind::Unsupported;
    has_none
}

impl std::ops::Deref for Mapping {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.map
    }
}
