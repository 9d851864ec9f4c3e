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

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::FileExt;

    use proptest::prelude::*;

    use super::*;

    /// Bytes that differ from place to place.
    fn content(len: usize) -> Vec<u8> {
        (0..len as u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
    }

    /// Creates a file beside the program: not every in-memory file system supports direct writes.
    fn file() -> File {
        let program = std::env::current_exe().unwrap();
        tempfile::tempfile_in(program.parent().unwrap()).unwrap()
    }

    /// Creates files on the disk and, where the system has such a directory, in memory.
    fn files() -> impl Iterator<Item = File> {
        [file()].into_iter().chain(tempfile::tempfile_in("/dev/shm").ok())
    }

    /// Copies bytes to memory in which they begin `place` bytes after the start of a page.
    fn at_place(memory: &mut Vec<u8>, place: u64, bytes: &[u8]) -> std::ops::Range<usize> {
        *memory = vec![0; bytes.len() + BLOCK_BYTES];
        let start = (place as usize).wrapping_sub(memory.as_ptr() as usize) % BLOCK_BYTES;
        memory[start..start + bytes.len()].copy_from_slice(bytes);
        start..start + bytes.len()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn sections_after_each_other_are_in_the_file(
            start in 0u64..10_000,
            lens in prop::collection::vec(prop_oneof![0..20_000usize, PART_BYTES - 5000..PART_BYTES + 20_000], 1..5),
            // As the offset in the file, or not.
            shift in prop_oneof![Just(0), 1..BLOCK_BYTES as u64],
        ) {
            for file in files() {
                let mut bulk = BulkFile::new(file);
                let whole = content(lens.iter().sum());
                let (mut at, mut rest, mut memory) = (start, &whole[..], Vec::new());
                for &len in &lens {
                    let place = at_place(&mut memory, at + shift, rest.split_off(..len).unwrap());
                    bulk.write_at(at, &memory[place]).unwrap();
                    at += len as u64;
                }
                let mut found = vec![0; whole.len()];
                bulk.file().read_exact_at(&mut found, start).unwrap();
                prop_assert!(found == whole);
                prop_assert_eq!(bulk.file().metadata().unwrap().len(), start + whole.len() as u64);
            }
        }
    }

    #[test]
    fn parts_end_at_multiples_of_their_size_and_are_everything() {
        let bytes = content(3 * PART_BYTES + 7);
        for offset in [0, 1, PART_BYTES as u64 - 1, PART_BYTES as u64, 5 * PART_BYTES as u64 + 4096] {
            let all: Vec<_> = parts(offset, &bytes).collect();
            assert_eq!(all.iter().flat_map(|(_, part)| part.iter().copied()).collect::<Vec<u8>>(), bytes);
            let mut next = offset;
            for (index, (offset, part)) in all.iter().enumerate() {
                assert_eq!(*offset, next);
                next += part.len() as u64;
                assert!(part.len() <= PART_BYTES);
                assert!(index + 1 == all.len() || next % PART_BYTES as u64 == 0);
            }
        }
        assert_eq!(parts(3, &[]).count(), 0);
    }

    #[test]
    fn a_system_without_direct_writes_keeps_what_is_written() {
        let mut bulk = BulkFile { way: Way::Through, ..BulkFile::new(file()) };
        let bytes = content(PART_BYTES + 100);
        bulk.write_at(5, &bytes).unwrap();
        let mut found = vec![0; bytes.len()];
        bulk.file().read_exact_at(&mut found, 5).unwrap();
        assert!(found == bytes);
    }
}
