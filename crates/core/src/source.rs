//! Where the bytes of a table come from: a file, memory, another machine.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use memmap2::{Mmap, MmapOptions};

use crate::cancel::Stopped;
use crate::file;

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

/// Reasons why bytes of a [`Source`] are not read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// They cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Nobody waits for them any more.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Where the bytes of a table come from: a file, mapped or read at offsets; memory; a file on another machine.
///
/// Nothing that it gives is trusted: [`crate::table::Table`] compares blocks with their checksums.
pub trait Source: Send + Sync {
    /// The file, for messages.
    fn name(&self) -> &Path;

    /// Number of bytes.
    fn bytes(&self) -> u64;

    /// Reads these parts, in this order. `again` is true if bytes read before were damaged, so that no cache on the way
    /// may answer.
    ///
    /// # Errors
    /// When they cannot be read, or nobody waits for them any more.
    fn read(&self, parts: &[Range<u64>], again: bool) -> Result<Vec<Vec<u8>>, SourceError>;

    /// All bytes, if they are in memory or can be mapped. Those of a [remote](Source::is_remote) source are asked for
    /// once its local file lacks none.
    fn whole(&self) -> Option<Bytes> {
        self.local().and_then(LocalFile::map)
    }

    /// The file on this machine with the bytes, in the same places. It may lack bytes of a [remote](Source::is_remote)
    /// source that were not read so far; they are written to it once they were read and found valid.
    fn local(&self) -> Option<&LocalFile> {
        None
    }

    /// Returns true if reading is slow, so that parts are read ahead, together, and kept in the local file.
    fn is_remote(&self) -> bool {
        false
    }
}

/// Bytes in memory, under the name of a file.
pub struct Memory {
    name: PathBuf,
    bytes: Bytes,
}

impl Memory {
    /// The source of these bytes; `name` only names them in errors.
    pub fn new(name: impl Into<PathBuf>, bytes: impl Into<Bytes>) -> Memory {
        Memory { name: name.into(), bytes: bytes.into() }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Source for Memory {
    fn name(&self) -> &Path {
        &self.name
    }

    fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read(&self, parts: &[Range<u64>], _: bool) -> Result<Vec<Vec<u8>>, SourceError> {
        let part = |part: &Range<u64>| self.bytes.get(part.start as usize..part.end as usize).map(<[u8]>::to_vec);
        let parts: Option<_> = parts.iter().map(part).collect();
        parts.ok_or_else(|| io::Error::from(ErrorKind::UnexpectedEof).into())
    }

    fn whole(&self) -> Option<Bytes> {
        Some(self.bytes.clone())
    }
}

/// A file of this machine: read at offsets, or mapped.
#[derive(Debug)]
pub struct LocalFile {
    /// Its path.
    pub path: PathBuf,
    /// The file.
    pub file: File,
    /// Its length when it was opened.
    pub bytes: u64,
    /// False if it is never mapped.
    maps: bool,
    /// The mapping, once all bytes were asked for; `None` in it if there can be none.
    map: OnceLock<Option<Arc<Mmap>>>,
}

/// A mapping as the owner of bytes.
struct Map(Arc<Mmap>);

impl AsRef<[u8]> for Map {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl LocalFile {
    /// Opens the regular file at `path` for reads at offsets: see [`file::open`].
    pub fn open(path: &Path) -> io::Result<LocalFile> {
        LocalFile::of(path, file::open(path)?)
    }

    /// The open `file`, named `path`, for reads at offsets.
    ///
    /// # Errors
    /// When its length cannot be read.
    pub fn of(path: impl Into<PathBuf>, file: File) -> io::Result<LocalFile> {
        let bytes = file.metadata()?.len();
        Ok(LocalFile { path: path.into(), file, bytes, maps: false, map: OnceLock::new() })
    }

    /// The same file, mapped for who asks for [all bytes](Source::whole), in a program that called [`map_files`].
    #[must_use]
    pub fn mapped(self) -> LocalFile {
        LocalFile { maps: true, ..self }
    }

    /// All bytes, mapped, if they can be.
    fn map(&self) -> Option<Bytes> {
        let map = self.map.get_or_init(|| {
            // SAFETY: the program guarantees it by calling `map_files`.
            let map = || unsafe { MmapOptions::new().len(self.bytes as usize).map(&self.file) };
            // Some file systems have no mappings.
            if self.maps && MAPPED.load(Ordering::Relaxed) { map().ok().map(Arc::new) } else { None }
        });
        map.clone().map(|map| Bytes::from_owner(Map(map)))
    }

    /// The mapping, if the file is mapped.
    fn mapping(&self) -> Option<&Mmap> {
        self.map.get()?.as_deref()
    }

    /// Asks the system to read these bytes, without waiting, if the file is mapped.
    pub(crate) fn read_ahead(&self, bytes: Range<usize>) {
        #[cfg(unix)]
        if let Some(map) = self.mapping() {
            // The advice only makes reading faster.
            let _ = map.advise_range(memmap2::Advice::WillNeed, bytes.start, bytes.len());
        }
        #[cfg(not(unix))]
        let _ = bytes;
    }

    /// Advises the system that single pages will be read at random, so that it reads none around them, if the file is
    /// mapped.
    pub(crate) fn expect_random_reads(&self) {
        #[cfg(unix)]
        if let Some(map) = self.mapping() {
            // The advice only makes reading faster.
            let _ = map.advise(memmap2::Advice::Random);
        }
    }

    /// Asks the system to remove these bytes from the page cache, if the file is mapped, unless another process has
    /// them mapped. They can still be read from the disk.
    pub(crate) fn release(&self, bytes: Range<usize>) {
        #[cfg(target_os = "linux")]
        if let Some(map) = self.mapping() {
            use std::os::fd::AsRawFd;
            // SAFETY: the mapping is never written to, so its pages can always be read from the
            // file again.
            let _ = unsafe { map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, bytes.start, bytes.len()) };
            let (start, length) = (bytes.start as libc::off_t, bytes.len() as libc::off_t);
            // SAFETY: the call takes no memory, and the file is open.
            unsafe { libc::posix_fadvise(self.file.as_raw_fd(), start, length, libc::POSIX_FADV_DONTNEED) };
        }
        #[cfg(not(target_os = "linux"))]
        let _ = bytes;
    }
}

impl Source for LocalFile {
    fn name(&self) -> &Path {
        &self.path
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads the parts. A file that became shorter is an error, wherever they are.
    fn read(&self, parts: &[Range<u64>], _: bool) -> Result<Vec<Vec<u8>>, SourceError> {
        if self.file.metadata()?.len() < self.bytes {
            return Err(io::Error::from(ErrorKind::UnexpectedEof).into());
        }
        Ok(parts.iter().map(|part| file::read_part(&self.file, part.clone())).collect::<io::Result<_>>()?)
    }

    fn local(&self) -> Option<&LocalFile> {
        Some(self)
    }
}
