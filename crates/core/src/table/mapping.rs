use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;
use std::time::SystemTime;

use memmap2::Mmap;

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

/// A mapped file as seen by a program that handles SIGBUS; dropped just before the file is unmapped.
pub trait MappingWatch: Send + Sync {
    /// Returns true if a part of the file could not be read, and something else stands in memory for it.
    fn is_lost(&self) -> bool;
}

/// Begins to watch the file at a path, which was just mapped to these bytes.
pub type WatchMapping = fn(&[u8], &Path) -> Box<dyn MappingWatch>;

/// Set once files are mapped, with what watches them.
static MAPPED: OnceLock<Option<WatchMapping>> = OnceLock::new();

/// Has the tables that this process opens from now on mapped into memory. Until then [`super::Table::open`] and all that use it
/// read a file into memory, where nothing can happen to it.
///
/// Mapped tables open at once, and share the page cache with all processes that use them. It is for programs, which know who
/// writes to their files, not for libraries. Only the first call counts.
///
/// If the file of a mapped table becomes shorter, the system raises SIGBUS where the lost part is read, which ends the process. A
/// program that handles the signal passes `watch`, which is told of every file that is mapped.
///
/// # Safety
/// While a table is open, nobody writes to its file or shortens it: its bytes are a slice. To remove it, or to rename another file
/// over it, is safe, and this is all that this library does with finished tables.
pub unsafe fn map_files(watch: Option<WatchMapping>) {
    let _ = MAPPED.set(watch);
}

/// Returns true after [`map_files`].
pub(super) fn files_are_mapped() -> bool {
    MAPPED.get().is_some()
}

/// A mapped file, to be read from.
pub(super) struct Mapping {
    /// Dropped before the memory is unmapped, and perhaps mapped to something else.
    watch: Option<Box<dyn MappingWatch>>,
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
        // SAFETY: the program promised it, see `map_files`: no file is mapped before.
        let map = unsafe { Mmap::map(&file) };
        let bytes = file.metadata().map_or(0, |metadata| metadata.len());
        let map = map.map_err(TableError::mapping(path, bytes))?;
        let watch = MAPPED.get().copied().flatten().map(|watch| watch(&map, path));
        Ok(Mapping { watch, map, file })
    }

    /// Returns true if the file has all bytes that were mapped, and had them whenever they were read.
    pub fn is_whole(&self) -> bool {
        let is_lost = self.watch.as_ref().is_some_and(|watch| watch.is_lost());
        !is_lost && self.file.metadata().is_ok_and(|metadata| metadata.len() >= self.map.len() as u64)
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
