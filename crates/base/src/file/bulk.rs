use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

use kalah_core::cancel::Cancel;

use super::direct::{BLOCK_BYTES, DirectFile};
use super::in_memory::write_in_memory;

/// Bytes written through the page cache before the system is asked to start moving them to the
/// disk.
const PART_BYTES: usize = LEAST_DIRECT_BYTES;

/// Sections with fewer bytes are never written past the page cache.
const LEAST_DIRECT_BYTES: usize = 8 << 20;

/// A file written in large sections: past the page cache where the disk is fast, to its pages where
/// it is in memory, through the page cache otherwise.
///
/// A write past the page cache takes almost no processor time. A write through it copies all bytes,
/// into memory that may first have to be cleared or, in a virtual machine, provided. Neither
/// guarantees anything until the file is synchronised.
#[derive(Debug)]
pub struct BulkFile {
    file: File,
    way: Way,
}

/// The way of writing sections.
#[derive(Debug)]
enum Way {
    Untried,
    InMemory,
    Direct(DirectFile),
    /// The system supports no other, or the disk is slow.
    Through,
}

impl BulkFile {
    /// Wraps a file that is open for writing.
    pub fn new(file: File) -> BulkFile {
        BulkFile { file, way: Way::Untried }
    }

    /// The file, for other operations.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Writes `bytes` from `offset` on.
    ///
    /// # Errors
    /// When writing fails. Any part may have been written then.
    pub fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() < LEAST_DIRECT_BYTES {
            return self.write_small(offset, bytes);
        }
        if matches!(self.way, Way::Untried | Way::InMemory) {
            if write_in_memory(&self.file, offset, bytes)? {
                self.way = Way::InMemory;
                return Ok(());
            }
            self.way = DirectFile::of(&self.file).map_or(Way::Through, Way::Direct);
        }
        match self.write_direct(offset, bytes) {
            // The place or the memory does not suit this disk.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                self.way = Way::Through;
                self.write_through(offset, bytes)
            }
            written => written,
        }
    }

    fn write_small(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.write_all(bytes)
    }

    /// Writes whole blocks past the page cache, and the partial blocks before and after them
    /// through it.
    fn write_direct(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let Way::Direct(direct) = &mut self.way else { return self.write_through(offset, bytes) };
        let first = offset.next_multiple_of(BLOCK_BYTES as u64);
        let (before, rest) = bytes.split_at((first - offset) as usize);
        let (blocks, after) = rest.split_at(rest.len() - rest.len() % BLOCK_BYTES);
        direct.write_at(first, blocks)?;
        if direct.is_slow() {
            self.way = Way::Through;
        }
        self.write_small(offset, before)?;
        self.write_small(first + blocks.len() as u64, after)
    }

    fn write_through(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        for (offset, part) in parts(offset, bytes) {
            self.write_small(offset, part)?;
            // Otherwise most of a layer would still have to be written at its end.
            begin_flush(&self.file, offset, part.len() as u64);
        }
        Ok(())
    }
}

/// Splits `bytes`, which begin at `offset` of a file, into parts with their offsets. Parts end at
/// huge-page boundaries: Linux caches written data in pages as large as their offset allows.
fn parts(mut offset: u64, mut bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    std::iter::from_fn(move || {
        let len = bytes.len().min(PART_BYTES - offset as usize % PART_BYTES);
        let part = (offset, bytes.split_off(..len)?);
        offset += len as u64;
        (len > 0).then_some(part)
    })
}

/// Asks the system to start moving `bytes` bytes from `offset` on to the disk, without waiting.
/// Synchronising the file then takes little time. This alone guarantees nothing, and does nothing
/// on systems without it.
pub(super) fn begin_flush(file: &File, offset: u64, bytes: u64) {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        // SAFETY: the call takes no memory, and the file is open.
        unsafe {
            let (offset, bytes) = (offset as libc::off64_t, bytes as libc::off64_t);
            libc::sync_file_range(file.as_raw_fd(), offset, bytes, libc::SYNC_FILE_RANGE_WRITE);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (file, offset, bytes);
}

/// Bytes read at a time: whole huge pages.
#[cfg(target_os = "linux")]
const POPULATED_BYTES: usize = 64 << 20;

/// Reads the uncached parts of a file into the page cache, in huge pages where the system has them,
/// until the end or until `cancel` is cancelled.
///
/// After a write past the page cache, this is much faster than reading page by page on use. It
/// affects only speed: it does nothing where the system cannot, and leaves errors to those who need
/// the bytes.
pub fn read_back(file: &File, cancel: &Cancel) {
    #[cfg(target_os = "linux")]
    {
        use memmap2::{Advice, Mmap};
        // SAFETY: no byte of the map is read here; its pages are only loaded.
        let Ok(map) = (unsafe { Mmap::map(file) }) else { return };
        // Otherwise the size of pages depends on the system's read-ahead.
        let _ = map.advise(Advice::HugePage);
        for start in (0..map.len()).step_by(POPULATED_BYTES) {
            let bytes = POPULATED_BYTES.min(map.len() - start);
            if cancel.is_cancelled() || map.advise_range(Advice::PopulateRead, start, bytes).is_err() {
                return;
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (file, cancel);
}
