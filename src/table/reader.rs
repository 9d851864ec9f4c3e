use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::checked::Checked;
use super::directory::{missing, named_key};
use super::format::{BLOCK_BYTES, FrameEntry, TableHeader, TableKey};
use super::frame::DamagedLine;
use super::line::{self, LINE_BYTES};
use super::mapping::Mapping;
use super::{Damage, FrameScores, TableError, table_path};
use crate::index::Frame;
use crate::memory::HugePages;

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
/// Opening checks header and directory. Scores are believed only once the blocks they stand in were compared with their
/// checksums: [`Table::score`] compares those that it reads, [`Table::frame`] all of a frame, [`Table::check`] all of the
/// table; each block once. [`Table::frame_unchecked`] leaves that to the caller.
pub struct Table {
    path: PathBuf,
    bytes: Bytes,
    header: TableHeader,
    checked: Checked,
}

impl Table {
    /// Opens and maps the table file at `path`. A file with the name of a table must hold that table.
    ///
    /// # Errors
    /// When the file cannot be read, or is damaged, foreign, unfinished, or another table than its name says.
    pub fn open(path: &Path) -> Result<Table, TableError> {
        let map = Mapping::open(path).map_err(TableError::io(path))?;
        let table = Table::new(path, Bytes::Mapped(map))?;
        match named_key(path) {
            Some(named) => table.expect(named),
            None => Ok(table),
        }
    }

    /// Opens the table `key` in `directory`.
    ///
    /// # Errors
    /// As [`Table::open`]; also when the table is not there (the error tells the command that makes it) or the file holds
    /// another one.
    pub fn open_key(directory: &Path, key: TableKey) -> Result<Table, TableError> {
        let path = table_path(directory, key);
        match Table::open(&path) {
            Err(TableError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Err(missing(directory, key)),
            opened => opened?.expect(key),
        }
    }

    /// The table, if it is that of `key`.
    fn expect(self, key: TableKey) -> Result<Table, TableError> {
        if self.key() == key {
            return Ok(self);
        }
        let other = Damage::Other { found: self.key().to_string(), expected: key.to_string() };
        Err(TableError::damaged(&self.path, other))
    }

    /// Reads a table from memory; `path` only names it in errors.
    ///
    /// # Errors
    /// When the bytes are no sound table.
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Table, TableError> {
        Table::new(path, Bytes::Owned(bytes))
    }

    /// A copy of the table in memory of its own, in huge pages where the system has them: random reads of it are faster
    /// than those of the file's small pages. Every block is compared with its checksum on the way. `None` when `stop` was
    /// set meanwhile.
    ///
    /// # Errors
    /// When there is not as much memory, or a block is damaged.
    pub fn copied(&self, stop: &AtomicBool) -> Result<Option<Table>, TableError> {
        let mut map = HugePages::new(self.bytes.len()).map_err(TableError::io(&self.path))?;
        let copy = Checked::none(&self.header.entries);
        // All before the first frame.
        let frames = self.header.entries.iter().map(|entry| entry.offset as usize).min().unwrap_or(0);
        map[..frames].copy_from_slice(&self.bytes[..frames]);
        for (entry, mover) in self.header.entries.iter().zip(1..) {
            if entry.blocks() == 1 {
                self.check_block(mover, 0)?;
            }
            for block in 0..entry.blocks() {
                if stop.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                let bytes = block_bytes(entry, block);
                map[bytes.clone()].copy_from_slice(&self.bytes[bytes.clone()]);
                // What was copied is compared, while it is in the processor's cache.
                if xxh3_64(&map[bytes]) != self.checksum(entry, block) {
                    return Err(self.damaged_block(entry, block));
                }
                copy.mark(mover, block);
                self.checked.mark(mover, block);
            }
            let checksums = (entry.offset + entry.checksums_at()) as usize..entry.end() as usize;
            map[checksums.clone()].copy_from_slice(&self.bytes[checksums]);
        }
        let map = Mapping::of_memory(map.read_only().map_err(TableError::io(&self.path))?);
        let (path, header) = (self.path.clone(), self.header.clone());
        Ok(Some(Table { path, bytes: Bytes::Mapped(map), header, checked: copy }))
    }

    fn new(path: &Path, bytes: Bytes) -> Result<Table, TableError> {
        let header = TableHeader::read(&bytes).map_err(|damage| TableError::damaged(path, damage))?;
        let checked = Checked::none(&header.entries);
        Ok(Table { path: path.to_owned(), bytes, header, checked })
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

    /// The scores of the frame with `mover` seeds in the mover's row, 1 to seeds - 1, all compared with their checksums: on
    /// all threads of the current pool when first asked for.
    ///
    /// # Errors
    /// The first damaged block of the frame.
    ///
    /// # Panics
    /// When the layer has no such frame.
    pub fn frame(&self, mover: usize) -> Result<FrameScores<'_>, TableError> {
        self.check_frame(mover)?;
        Ok(self.frame_unchecked(mover))
    }

    /// The scores of the frame with `mover` seeds in the mover's row, compared with nothing: for those who read scores of
    /// tables that may be damaged, or see to their checks themselves. What is damaged is read as it stands, or told as a
    /// [`DamagedLine`]; it never panics.
    ///
    /// # Panics
    /// When the layer has no such frame.
    #[inline]
    pub fn frame_unchecked(&self, mover: usize) -> FrameScores<'_> {
        let key = self.header.key;
        let frame = Frame { pits: key.pits, mover, other: key.seeds - mover };
        let entry = &self.header.entries[mover - 1];
        FrameScores::new(frame, entry, self.section(entry)).expect("opening checked the entries")
    }

    /// The score of the position with these ranks of rows, `mover` seeds in the mover's row (1 to seeds - 1). The blocks
    /// that it is read from are compared with their checksums when first touched.
    ///
    /// # Errors
    /// When one of these blocks is damaged, or its line.
    ///
    /// # Panics
    /// When the layer has no such frame, or the frame no such ranks.
    #[inline]
    pub fn score(&self, mover: usize, mover_rank: u32, other_rank: u32) -> Result<u8, TableError> {
        let entry = self.entry(mover);
        let (line_at, place) = line_of(entry, mover_rank, other_rank);
        assert!(line_at < entry.patches_at() && u64::from(mover_rank) < entry.rows, "no such ranks");
        if !self.checked.all() && !self.checked.is_marked(mover, line_at / BLOCK_BYTES as u64) {
            self.touch(mover, line_at / BLOCK_BYTES as u64)?;
        }
        let frame = &self.bytes[entry.offset as usize..];
        let line = frame[line_at as usize..].first_chunk().expect("opening checked the entries");
        match line::patch_offset(line) {
            None => Ok(line::residual(line, place).wrapping_add(frame[mover_rank as usize])),
            Some(offset) => self.patched_score(mover, (mover_rank, other_rank), offset),
        }
    }

    /// The score of a position whose line has a patch.
    fn patched_score(&self, mover: usize, ranks: (u32, u32), offset: u32) -> Result<u8, TableError> {
        self.check_patch(mover, offset)?;
        self.frame_unchecked(mover).score(ranks.0, ranks.1).map_err(|line| self.damaged_line(line))
    }

    /// The bytes of a frame as they stand in the file: data and checksums.
    pub fn section(&self, entry: &FrameEntry) -> &[u8] {
        &self.bytes[entry.offset as usize..entry.end() as usize]
    }

    /// Whether all blocks were compared with their checksums.
    #[inline]
    pub fn is_checked(&self) -> bool {
        self.checked.all()
    }

    /// Bytes of blocks that were not compared with their checksums yet, about.
    pub fn unchecked_bytes(&self) -> u64 {
        (self.checked.left() * BLOCK_BYTES as u64).min(self.header.file_bytes)
    }

    /// Compares every block with its checksum that was not compared before, on all threads of the current pool.
    ///
    /// # Errors
    /// The first damaged block.
    pub fn check(&self) -> Result<(), TableError> {
        if self.checked.all() {
            return Ok(());
        }
        self.key().frames().try_for_each(|frame| self.check_frame(frame.mover))
    }

    /// Compares every block with its checksum, also those that were compared before, on all threads of the current pool.
    /// Returns the number of blocks.
    ///
    /// # Errors
    /// The first damaged block.
    pub fn check_blocks(&self) -> Result<u64, TableError> {
        let mut blocks = 0;
        for frame in self.key().frames() {
            let entry = self.entry(frame.mover);
            self.compare(frame.mover, Checked::profile_blocks(entry))?;
            self.compare(frame.mover, 0..entry.blocks())?;
            blocks += entry.blocks();
        }
        Ok(blocks)
    }

    /// Compares the blocks of a frame that were not compared before.
    fn check_frame(&self, mover: usize) -> Result<(), TableError> {
        if self.checked.frame(mover) {
            return Ok(());
        }
        // The profile first: see [`Checked`].
        let entry = self.entry(mover);
        for blocks in [Checked::profile_blocks(entry), 0..entry.blocks()] {
            let open: Vec<u64> = blocks.filter(|&block| !self.checked.is_marked(mover, block)).collect();
            self.compare(mover, open)?;
        }
        Ok(())
    }

    /// Compares some blocks of a frame that were not compared before, one after the other, as long as `go_on` says so.
    /// Whether it did to the end.
    ///
    /// # Errors
    /// The first damaged block.
    ///
    /// # Panics
    /// When the layer has no such frame, or the frame not as many blocks.
    pub(crate) fn check_some(
        &self,
        mover: usize,
        blocks: Range<u64>,
        go_on: &dyn Fn() -> bool,
    ) -> Result<bool, TableError> {
        for block in Checked::profile_blocks(self.entry(mover)).chain(blocks) {
            if self.checked.is_marked(mover, block) {
                continue;
            }
            if !go_on() {
                return Ok(false);
            }
            self.check_block(mover, block)?;
        }
        Ok(true)
    }

    /// Compares the blocks in which the patch that begins at `offset` may stand.
    fn check_patch(&self, mover: usize, offset: u32) -> Result<(), TableError> {
        let entry = self.entry(mover);
        let start = entry.patches_at() + u64::from(offset);
        let end = (start + line::MAX_PATCH_BYTES).min(entry.checksums_at());
        // What begins beyond the patches is no patch, and is told when it is to be read.
        let blocks = start / BLOCK_BYTES as u64..end.div_ceil(BLOCK_BYTES as u64);
        for block in blocks {
            if !self.checked.is_marked(mover, block) {
                self.touch(mover, block)?;
            }
        }
        Ok(())
    }

    /// Compares a block that is read for the first time, and before it the profile.
    #[cold]
    #[inline(never)]
    fn touch(&self, mover: usize, block: u64) -> Result<(), TableError> {
        self.check_some(mover, block..block + 1, &|| true).map(drop)
    }

    /// Compares blocks of a frame with their checksums, on all threads of the current pool; the first damaged one is told.
    fn compare<B>(&self, mover: usize, blocks: B) -> Result<(), TableError>
    where
        B: IntoParallelIterator<Item = u64>,
    {
        let damaged = blocks.into_par_iter().find_map_first(|block| self.check_block(mover, block).err());
        damaged.map_or(Ok(()), Err)
    }

    fn check_block(&self, mover: usize, block: u64) -> Result<(), TableError> {
        let entry = self.entry(mover);
        if xxh3_64(&self.bytes[block_bytes(entry, block)]) != self.checksum(entry, block) {
            return Err(self.damaged_block(entry, block));
        }
        // A small frame that was written over another takes its one checksum along. No larger ones have the same parts.
        if entry.blocks() == 1 && *blake3::hash(self.section(entry)).as_bytes() != entry.digest {
            return Err(TableError::damaged(&self.path, Damage::Part { part: "frame", offset: entry.offset }));
        }
        self.checked.mark(mover, block);
        Ok(())
    }

    /// The checksum that a block should have.
    fn checksum(&self, entry: &FrameEntry, block: u64) -> u64 {
        let at = (entry.offset + entry.checksums_at() + 8 * block) as usize;
        u64::from_le_bytes(*self.bytes[at..].first_chunk().expect("opening checked the entries"))
    }

    #[inline]
    fn entry(&self, mover: usize) -> &FrameEntry {
        &self.header.entries[mover - 1]
    }

    fn damaged_block(&self, entry: &FrameEntry, block: u64) -> TableError {
        let offset = entry.offset + block * BLOCK_BYTES as u64;
        TableError::damaged(&self.path, Damage::Part { part: "block of scores", offset })
    }

    /// A line told to be damaged, as an error that names this file.
    pub fn damaged_line(&self, line: DamagedLine) -> TableError {
        let entry = &self.header.entries[line.mover - 1];
        let offset = entry.offset + entry.lines_at() + line.line * LINE_BYTES as u64;
        TableError::damaged(&self.path, Damage::Part { part: "line of scores", offset })
    }

    /// A score that cannot be, as an error that names this file: of the position with these ranks, `mover` seeds in the
    /// mover's row.
    ///
    /// # Panics
    /// When the layer has no such frame.
    pub fn damaged_score(&self, mover: usize, mover_rank: u32, other_rank: u32) -> TableError {
        let entry = self.entry(mover);
        let offset = entry.offset + line_of(entry, mover_rank, other_rank).0;
        TableError::damaged(&self.path, Damage::Part { part: "score of a position", offset })
    }
}

/// Where the line of a position begins, in bytes from the start of its frame, and the place of the position in it.
#[inline]
fn line_of(entry: &FrameEntry, mover_rank: u32, other_rank: u32) -> (u64, usize) {
    let index = u64::from(other_rank) * entry.rows + u64::from(mover_rank);
    let (number, place) = (index / line::LINE_POSITIONS as u64, index % line::LINE_POSITIONS as u64);
    (entry.lines_at() + number * LINE_BYTES as u64, place as usize)
}

/// Where a block of a frame stands, in bytes from the start of the file.
fn block_bytes(entry: &FrameEntry, block: u64) -> Range<usize> {
    let start = block * BLOCK_BYTES as u64;
    let end = (start + BLOCK_BYTES as u64).min(entry.checksums_at());
    (entry.offset + start) as usize..(entry.offset + end) as usize
}
