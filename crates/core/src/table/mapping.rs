//! All bytes of a file of this machine: mapped, or in memory.

use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicBool, Ordering};

use memmap2::{Mmap, MmapOptions};

use crate::directory::Storage;
use crate::file;
use crate::file::LocalFile;

/// True once files are mapped.
static MAPPED: AtomicBool = AtomicBool::new(false);

/// Makes this process map the tables that it opens from now on. Otherwise they are read into memory, where nothing can
/// happen to them. Mapped tables open at once and share the page cache with all processes that use them.
///
/// Mapping is for programs that control who writes to their files, not for libraries. If the file of a mapped table
/// becomes shorter, reading the lost part raises SIGBUS, which ends the process.
///
/// # Safety
/// While a table is open, nobody may write to its file or shorten it: its bytes are a slice. Removing the file, or
/// renaming another over it, is safe. This library does nothing else to finished tables.
pub unsafe fn map_files() {
    MAPPED.store(true, Ordering::Relaxed);
}

/// The bytes of a file: mapped, or in memory.
pub(super) enum Bytes {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl Bytes {
    /// Maps or reads a file, whose bytes do not change.
    pub(super) fn of(local: &LocalFile, storage: Storage) -> io::Result<Bytes> {
        // Some file systems have no mappings.
        if storage == Storage::Mapped
            && MAPPED.load(Ordering::Relaxed)
            // SAFETY: the program guarantees it by calling `map_files`.
            && let Ok(map) = unsafe { MmapOptions::new().len(local.bytes as usize).map(&local.file) }
        {
            return Ok(Bytes::Mapped(map));
        }
        file::read_part(&local.file, 0..local.bytes).map(Bytes::Owned)
    }

    /// Asks the system to read these bytes of a mapped file, without waiting.
    pub(super) fn read_ahead(&self, bytes: Range<usize>) {
        #[cfg(unix)]
        if let Bytes::Mapped(map) = self {
            // The advice only makes reading faster.
            let _ = map.advise_range(memmap2::Advice::WillNeed, bytes.start, bytes.len());
        }
        #[cfg(not(unix))]
        let _ = bytes;
    }

    /// Advises the system that single pages of a mapped file will be read at random, so that it reads none around them.
    pub(super) fn expect_random_reads(&self) {
        #[cfg(unix)]
        if let Bytes::Mapped(map) = self {
            // The advice only makes reading faster.
            let _ = map.advise(memmap2::Advice::Random);
        }
    }

    /// Asks the system to remove these bytes of the mapped `file` from the page cache, unless another process has them
    /// mapped. They can still be read from the disk.
    pub(super) fn release(&self, file: &File, bytes: Range<usize>) {
        #[cfg(target_os = "linux")]
        if let Bytes::Mapped(map) = self {
            use std::os::fd::AsRawFd;
            // SAFETY: the mapping is never written to, so its pages can always be read from the
            // file again.
            let _ = unsafe { map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, bytes.start, bytes.len()) };
            let (start, length) = (bytes.start as libc::off_t, bytes.len() as libc::off_t);
            // SAFETY: the call takes no memory, and the file is open.
            unsafe { libc::posix_fadvise(file.as_raw_fd(), start, length, libc::POSIX_FADV_DONTNEED) };
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (bytes, file);
    }
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}
