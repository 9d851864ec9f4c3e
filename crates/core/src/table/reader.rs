use std::fmt;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use super::checked::Checked;
use super::copy::FrameCopy;
use super::error::{Damage, Part, TableError};
use super::format::{BLOCK_BYTES, FrameEntry, TableHeader};
use super::frame::{DamagedGroup, FrameScores};
use super::group::{self, GROUP_BYTES};
use super::key::TableKey;
use super::layer::{Layer, group_of};
use super::mapping::Mapping;
use crate::file;
use crate::index::Frame;
use crate::memory::HugePages;

/// Blocks that the system reads at once: 4 MiB.
const AHEAD_BLOCKS: u64 = 64;

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

/// A finished table in memory: a mapped file, or bytes that were read.
///
/// Opening checks header and directory. Blocks are compared with their checksums, once each, before their scores are
/// used: [`Table::score`] compares those that it reads, [`Table::frame`] those of a frame, [`Table::check`] all.
/// [`Table::frame_unchecked`] leaves this to the caller.
pub struct Table {
    path: PathBuf,
    bytes: Bytes,
    header: TableHeader,
    checked: Checked,
}

impl Table {
    /// Opens and maps the table file at `path`. A file with the name of a table must hold that table.
    ///
    /// The file must not change while it is open. Finished tables are never written to again, only replaced by
    /// renaming, so this holds unless another program writes to the file. If it becomes shorter, a signal ends the
    /// program (see [`super::report_bus_errors`]). Where files may change, use [`Table::read`], which copies the file,
    /// or [`super::ReadAtTable`], which reads each block when it is needed.
    ///
    /// # Errors
    /// When the file cannot be read, or is damaged, foreign, unfinished, or not the table that its name says.
    pub fn open(path: &Path) -> Result<Table, TableError> {
        Table::new(path, Bytes::Mapped(Mapping::open(path)?))?.expect_named()
    }

    /// Reads the table file at `path` into memory. A file with the name of a table must hold that table.
    ///
    /// # Errors
    /// As [`Table::open`]; and when there is not enough memory.
    pub fn read(path: &Path) -> Result<Table, TableError> {
        let bytes = file::read(path).map_err(|error| match error.kind() {
            ErrorKind::OutOfMemory => {
                TableError::out_of_memory(path, path.metadata().map_or(0, |metadata| metadata.len()))
            }
            _ => TableError::io(path)(error),
        })?;
        Table::from_bytes(path, bytes)?.expect_named()
    }

    /// Opens and maps the table `key` in `directory`.
    ///
    /// # Errors
    /// As [`Table::open`]; also when the table does not exist, or the file holds another one.
    pub fn open_key(directory: &Path, key: TableKey) -> Result<Table, TableError> {
        match Table::open(&key.path(directory)) {
            Err(TableError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                Err(TableError::missing(directory, key))
            }
            opened => opened?.expect(key),
        }
    }

    /// The table, if its file is named after it, or not named like a table.
    fn expect_named(self) -> Result<Table, TableError> {
        match TableKey::named(&self.path) {
            Some(named) => self.expect(named),
            None => Ok(self),
        }
    }

    /// The table, if its key is `key`.
    fn expect(self, key: TableKey) -> Result<Table, TableError> {
        if self.key() == key {
            return Ok(self);
        }
        Err(TableError::damaged(&self.path, Damage::Other { found: self.key(), expected: key }))
    }

    /// Reads a table from memory; `path` only names it in errors.
    ///
    /// # Errors
    /// When the bytes are not a valid table.
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Table, TableError> {
        Table::new(path, Bytes::Owned(bytes))
    }

    /// A copy of the frame with `mover` seeds in the mover's row in memory, in huge pages where the system supports them,
    /// which makes random reads faster than those of the mapped file. Every block is compared with its checksum.
    /// `None` if `stop` was set meanwhile.
    ///
    /// # Errors
    /// When there is not enough memory, or a block is damaged.
    ///
    /// # Panics
    /// When the layer has no such frame.
    pub fn copied_frame(&self, mover: usize, stop: &AtomicBool) -> Result<Option<FrameCopy>, TableError> {
        let entry = self.entry(mover);
        let bytes = entry.checksums_at();
        let mut copy = HugePages::new(bytes as usize).map_err(TableError::mapping(&self.path, bytes))?;
        if entry.blocks() == 1 {
            self.check_block(mover, 0)?;
        }
        for block in 0..entry.blocks() {
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            if block.is_multiple_of(AHEAD_BLOCKS) {
                self.read_ahead(mover, block + AHEAD_BLOCKS..block + 2 * AHEAD_BLOCKS);
            }
            let bytes = block_bytes(entry, block);
            let at = bytes.start - entry.offset as usize;
            let part = &mut copy[at..at + bytes.len()];
            part.copy_from_slice(&self.bytes[bytes]);
            // The copy is compared while it is in the processor's cache.
            if xxh3_64(part) != self.checksum(entry, block) {
                return Err(self.damaged_block(entry, block));
            }
            self.checked.mark(mover, block);
        }
        let key = self.header.key;
        let frame = Frame { pits: key.pits, mover, other: key.seeds - mover };
        Ok(Some(FrameCopy::new(frame, *entry, copy)))
    }

    /// Has the system read these blocks of the frame with `mover` seeds in the mover's row from the file, without waiting
    /// for them. Blocks that the frame does not have are left out.
    ///
    /// # Panics
    /// When the layer has no such frame.
    pub fn read_ahead(&self, mover: usize, blocks: Range<u64>) {
        let entry = self.entry(mover);
        let blocks = blocks.start..blocks.end.min(entry.blocks());
        if let (Bytes::Mapped(map), false) = (&self.bytes, blocks.is_empty()) {
            map.read_ahead(block_bytes(entry, blocks.start).start..block_bytes(entry, blocks.end - 1).end);
        }
    }

    /// Has the system take the frame with `mover` seeds in the mover's row out of the page cache, where it can (Linux). Reading it
    /// from the file again is slow: for a frame of which there is a copy.
    ///
    /// # Panics
    /// When the layer has no such frame.
    pub fn release(&self, mover: usize) {
        let entry = self.entry(mover);
        if let Bytes::Mapped(map) = &self.bytes {
            map.release(entry.offset as usize..entry.end() as usize);
        }
    }

    fn new(path: &Path, bytes: Bytes) -> Result<Table, TableError> {
        let header =
            TableHeader::read(&bytes, bytes.len() as u64).map_err(|damage| TableError::damaged(path, damage))?;
        let checked = Checked::none(&header.entries);
        Ok(Table { path: path.to_owned(), bytes, header, checked })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The header and directory.
    pub fn header(&self) -> &TableHeader {
        &self.header
    }

    /// Which table it is.
    #[inline]
    pub fn key(&self) -> TableKey {
        self.header.key
    }

    /// The whole file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The scores of the frame with `mover` seeds in the mover's row, 1 to seeds - 1. The first call compares all its
    /// blocks with their checksums.
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

    /// The scores of the frame with `mover` seeds in the mover's row, without comparing checksums: for callers that do
    /// this themselves, or that want to read damaged tables. Damaged scores are wrong or give a [`DamagedGroup`], but
    /// never a panic.
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

    /// The score of the position with these ranks of rows and `mover` seeds in the mover's row (1 to seeds - 1). The
    /// blocks it is read from are compared with their checksums the first time.
    ///
    /// # Errors
    /// When one of these blocks, or the group, is damaged.
    ///
    /// # Panics
    /// When the layer has no such frame, or the frame no such ranks.
    #[inline]
    pub fn score(&self, mover: usize, mover_rank: u32, other_rank: u32) -> Result<u8, TableError> {
        let entry = self.entry(mover);
        let (group_at, place) = group_of(entry, mover_rank, other_rank);
        assert!(group_at < entry.patches_at() && u64::from(mover_rank) < entry.rows, "no such ranks");
        if !self.checked.all() && !self.checked.is_marked(mover, group_at / BLOCK_BYTES as u64) {
            self.touch(mover, group_at / BLOCK_BYTES as u64)?;
        }
        let frame = &self.bytes[entry.offset as usize..];
        let group = frame[group_at as usize..].first_chunk().expect("opening checked the entries");
        match group::patch_offset(group) {
            None => Ok(group::residual(group, place).wrapping_add(frame[mover_rank as usize])),
            Some(offset) => self.patched_score(mover, (mover_rank, other_rank), offset),
        }
    }

    /// The score of a position whose group has a patch.
    fn patched_score(&self, mover: usize, ranks: (u32, u32), offset: u32) -> Result<u8, TableError> {
        self.check_patch(mover, offset)?;
        self.frame_unchecked(mover).score(ranks.0, ranks.1).map_err(|group| self.damaged_group(group))
    }

    /// The bytes of a frame in the file: data and checksums.
    pub fn section(&self, entry: &FrameEntry) -> &[u8] {
        &self.bytes[entry.offset as usize..entry.end() as usize]
    }

    /// Whether all blocks were compared with their checksums.
    #[inline]
    pub fn is_checked(&self) -> bool {
        self.checked.all()
    }

    /// About how many bytes were not compared with their checksums yet.
    pub fn unchecked_bytes(&self) -> u64 {
        (self.checked.left() * BLOCK_BYTES as u64).min(self.header.file_bytes)
    }

    /// Compares all blocks that were not compared before with their checksums.
    ///
    /// # Errors
    /// The first damaged block.
    pub fn check(&self) -> Result<(), TableError> {
        if self.checked.all() {
            return Ok(());
        }
        self.key().frames().try_for_each(|frame| self.check_frame(frame.mover))
    }

    /// Compares the blocks of a frame that were not compared before.
    fn check_frame(&self, mover: usize) -> Result<(), TableError> {
        if self.checked.frame(mover) {
            return Ok(());
        }
        let blocks = 0..self.entry(mover).blocks();
        blocks
            .filter(|&block| !self.checked.is_marked(mover, block))
            .try_for_each(|block| self.check_block(mover, block))
    }

    /// Whether all blocks of the frame with `mover` seeds in the mover's row were compared with their checksums.
    #[inline]
    pub fn is_frame_checked(&self, mover: usize) -> bool {
        self.checked.frame(mover)
    }

    /// Whether a block of the frame with `mover` seeds in the mover's row was compared with its checksum.
    #[inline]
    pub fn is_block_checked(&self, mover: usize, block: u64) -> bool {
        self.checked.is_marked(mover, block)
    }

    /// Compares a block of the frame with `mover` seeds in the mover's row with its checksum, even if it was compared
    /// before; and, before it, those blocks of the frame's profile below it that were not.
    ///
    /// # Errors
    /// When one of them is damaged.
    ///
    /// # Panics
    /// When the layer has no such frame, or the frame no such block.
    pub fn check_block(&self, mover: usize, block: u64) -> Result<(), TableError> {
        for before in Checked::blocks_before(self.entry(mover), block) {
            if !self.checked.is_marked(mover, before) {
                self.compare(mover, before)?;
            }
        }
        self.compare(mover, block)
    }

    /// Compares the blocks that may contain the patch that begins at `offset`.
    fn check_patch(&self, mover: usize, offset: u32) -> Result<(), TableError> {
        let entry = self.entry(mover);
        let start = entry.patches_at() + u64::from(offset);
        let end = (start + group::MAX_PATCH_BYTES).min(entry.checksums_at());
        // An offset beyond the patches has no blocks here; reading the patch fails.
        let blocks = start / BLOCK_BYTES as u64..end.div_ceil(BLOCK_BYTES as u64);
        for block in blocks {
            if !self.checked.is_marked(mover, block) {
                self.touch(mover, block)?;
            }
        }
        Ok(())
    }

    /// Compares a block that is read for the first time, after the profile.
    #[cold]
    #[inline(never)]
    fn touch(&self, mover: usize, block: u64) -> Result<(), TableError> {
        self.check_block(mover, block)
    }

    /// Compares one block and marks it. Those of the profile come first: see [`Checked`].
    fn compare(&self, mover: usize, block: u64) -> Result<(), TableError> {
        let entry = self.entry(mover);
        if xxh3_64(&self.bytes[block_bytes(entry, block)]) != self.checksum(entry, block) {
            return Err(self.damaged_block(entry, block));
        }
        // A frame of one block that overwrote another one brought its own checksum, so only the digest shows it. Larger
        // frames all differ in the sizes of their parts.
        if entry.blocks() == 1 && *blake3::hash(self.section(entry)).as_bytes() != entry.digest {
            return Err(TableError::damaged_part(&self.path, Part::Frame, entry.offset));
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
        TableError::damaged_part(&self.path, Part::Block, offset)
    }

    /// A damaged group as an error that names this file.
    pub fn damaged_group(&self, group: DamagedGroup) -> TableError {
        let entry = &self.header.entries[group.mover - 1];
        let offset = entry.offset + entry.groups_at() + group.group * GROUP_BYTES as u64;
        TableError::damaged_part(&self.path, Part::Group, offset)
    }

    /// An impossible score as an error that names this file: that of the position with these ranks and `mover` seeds in
    /// the mover's row.
    ///
    /// # Panics
    /// When the layer has no such frame.
    pub fn damaged_score(&self, mover: usize, mover_rank: u32, other_rank: u32) -> TableError {
        let entry = self.entry(mover);
        let offset = entry.offset + group_of(entry, mover_rank, other_rank).0;
        TableError::damaged_part(&self.path, Part::Score, offset)
    }
}

/// The bytes of a block of a frame, counted from the start of the file.
fn block_bytes(entry: &FrameEntry, block: u64) -> Range<usize> {
    let bytes = entry.block_bytes(block);
    bytes.start as usize..bytes.end as usize
}

impl Layer for Table {
    #[inline]
    fn key(&self) -> TableKey {
        Table::key(self)
    }

    #[inline]
    fn path(&self) -> &Path {
        Table::path(self)
    }

    #[inline]
    fn score(&self, mover: usize, mover_rank: u32, other_rank: u32) -> Result<u8, TableError> {
        Table::score(self, mover, mover_rank, other_rank)
    }

    fn damaged_score(&self, mover: usize, mover_rank: u32, other_rank: u32) -> TableError {
        Table::damaged_score(self, mover, mover_rank, other_rank)
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("path", &self.path).field("key", &self.key()).finish_non_exhaustive()
    }
}
