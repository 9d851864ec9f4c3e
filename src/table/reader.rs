use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::directory::missing;
use super::format::{BLOCK_BYTES, FrameEntry, TableHeader, TableKey};
use super::frame::DamagedLine;
use super::line::LINE_BYTES;
use super::mapping::Mapping;
use super::{Damage, FrameScores, TableError, table_path};
use crate::index::Frame;

/// Bytes copied between two looks at whether to stop.
const COPY_BYTES: usize = 64 << 20;

/// The bytes of a table: a mapped file, or memory.
enum Bytes {
    Mapped(Mapping),
    Owned(Vec<u8>),
}

impl std::ops::Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}

/// A finished table, read in place.
///
/// Opening checks header and directory; the scores themselves are checked by [`crate::verify`]. Damaged scores are
/// read as they stand, or told as a [`DamagedLine`]; they never panic.
pub struct Table {
    path: PathBuf,
    bytes: Bytes,
    header: TableHeader,
}

impl Table {
    /// Opens and maps the table file at `path`.
    ///
    /// # Errors
    /// When the file cannot be read, or is damaged, foreign or unfinished.
    pub fn open(path: &Path) -> Result<Table, TableError> {
        let map = Mapping::open(path).map_err(TableError::io(path))?;
        Table::new(path, Bytes::Mapped(map))
    }

    /// Opens the table `key` in `directory`.
    ///
    /// # Errors
    /// As [`Table::open`]; also when the table is not there (the error tells the command that makes it) or the file holds
    /// another one.
    pub fn open_key(directory: &Path, key: TableKey) -> Result<Table, TableError> {
        let path = table_path(directory, key);
        let table = match Table::open(&path) {
            Err(TableError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                return Err(missing(directory, key));
            }
            opened => opened?,
        };
        if table.key() != key {
            let other = Damage::Other { found: table.key().to_string(), expected: key.to_string() };
            return Err(TableError::damaged(&path, other));
        }
        Ok(table)
    }

    /// Reads a table from memory; `path` only names it in errors.
    ///
    /// # Errors
    /// When the bytes are no sound table.
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Table, TableError> {
        Table::new(path, Bytes::Owned(bytes))
    }

    /// A copy of the table in memory of its own, in huge pages where the system has them: random reads of it are faster
    /// than those of the file's small pages. `None` when `stop` was set meanwhile.
    ///
    /// # Errors
    /// When there is not as much memory.
    pub fn copied(&self, stop: &AtomicBool) -> std::io::Result<Option<Table>> {
        let mut map = memmap2::MmapMut::map_anon(self.bytes.len())?;
        #[cfg(target_os = "linux")]
        // Without huge pages everything works, only slower.
        let _ = map.advise(memmap2::Advice::HugePage);
        for (copy, bytes) in map.chunks_mut(COPY_BYTES).zip(self.bytes.chunks(COPY_BYTES)) {
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            copy.copy_from_slice(bytes);
        }
        let (path, header) = (self.path.clone(), self.header.clone());
        Ok(Some(Table { path, bytes: Bytes::Mapped(Mapping::of_memory(map.make_read_only()?)), header }))
    }

    fn new(path: &Path, bytes: Bytes) -> Result<Table, TableError> {
        let header = TableHeader::read(&bytes).map_err(|damage| TableError::damaged(path, damage))?;
        Ok(Table { path: path.to_owned(), bytes, header })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the file says about itself.
    pub fn header(&self) -> &TableHeader {
        &self.header
    }

    /// What the table is about.
    pub fn key(&self) -> TableKey {
        self.header.key
    }

    /// The whole file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The scores of the frame with `mover` seeds in the mover's row, 1 to seeds - 1.
    ///
    /// # Panics
    /// When the layer has no such frame.
    #[inline]
    pub fn frame(&self, mover: usize) -> FrameScores<'_> {
        let key = self.header.key;
        let frame = Frame { pits: key.pits, mover, other: key.seeds - mover };
        let entry = &self.header.entries[mover - 1];
        FrameScores::new(frame, entry, self.section(entry)).expect("opening checked the entries")
    }

    /// The bytes of a frame as they stand in the file: data and checksums.
    pub fn section(&self, entry: &FrameEntry) -> &[u8] {
        &self.bytes[entry.offset as usize..entry.end() as usize]
    }

    /// Compares every block with its checksum, on all threads of the current pool. Returns the number of blocks.
    ///
    /// # Errors
    /// The first damaged block.
    pub fn check_blocks(&self) -> Result<u64, TableError> {
        let mut blocks = 0;
        for frame in self.key().frames() {
            let entry = &self.header.entries[frame.mover - 1];
            let (data, checksums) = self.section(entry).split_at(entry.checksums_at() as usize);
            let wrong = data
                .par_chunks(BLOCK_BYTES)
                .zip(checksums.as_chunks().0)
                .position_first(|(block, &checksum)| xxh3_64(block) != u64::from_le_bytes(checksum));
            if let Some(block) = wrong {
                let offset = entry.offset + (block * BLOCK_BYTES) as u64;
                return Err(TableError::damaged(&self.path, Damage::Part { part: "block of scores", offset }));
            }
            blocks += entry.blocks();
        }
        Ok(blocks)
    }

    /// A line told to be damaged, as an error that names this file.
    pub fn damaged_line(&self, line: DamagedLine) -> TableError {
        let entry = &self.header.entries[line.mover - 1];
        let offset = entry.offset + entry.lines_at() + line.line * LINE_BYTES as u64;
        TableError::damaged(&self.path, Damage::Part { part: "line of scores", offset })
    }
}
