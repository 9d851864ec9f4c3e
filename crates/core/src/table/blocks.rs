use std::fmt;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use super::checked::Checked;
use super::error::{Damage, TableError, TablePart};
use super::format::BLOCK_BYTES;
use super::mapping::{Mapping, files_are_mapped};
use super::section::Section;
use super::source::Origin;
use crate::cancel::Cancel;
use crate::file;
use crate::memory::HugePages;

/// Blocks that the system reads before a copy needs them: 4 MiB.
const AHEAD_BLOCKS: u64 = 64;

/// The bytes of a file: mapped, or in memory.
pub(super) enum Bytes {
    Mapped(Mapping),
    Owned(Vec<u8>),
}

impl Bytes {
    /// Maps the file at `path` if files are [mapped](super::map_files) and its file system has
    /// mappings, otherwise reads it into memory.
    ///
    /// # Errors
    /// When it cannot be opened, mapped or read, is not a regular file, or does not fit in memory.
    pub fn open(path: &Path) -> Result<Bytes, TableError> {
        match if files_are_mapped() { Mapping::open(path)? } else { None } {
            Some(map) => Ok(Bytes::Mapped(map)),
            None => Bytes::read(path),
        }
    }

    /// Reads the file at `path` into memory.
    ///
    /// # Errors
    /// When it cannot be read, is not a regular file, or does not fit in memory.
    pub fn read(path: &Path) -> Result<Bytes, TableError> {
        let bytes = file::read(path).map_err(|error| match error.kind() {
            ErrorKind::OutOfMemory => {
                TableError::out_of_memory(path, path.metadata().map_or(0, |metadata| metadata.len()))
            }
            _ => TableError::io(path)(error),
        });
        bytes.map(Bytes::Owned)
    }
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

/// A file in memory with a section for each frame. It records which blocks have been compared with
/// their checksums.
pub struct Blocks {
    path: PathBuf,
    bytes: Bytes,
    /// By seeds in the mover's row, from 1.
    sections: Box<[Section]>,
    checked: Checked,
    /// Copies of the data of sections, at the same places.
    copies: Box<[OnceLock<HugePages>]>,
    /// Where the file gets its blocks from, if it is filled on demand.
    pub(super) origin: Option<Origin>,
    /// True for each section that matched its digest as a whole.
    matched: Box<[AtomicBool]>,
}

impl Blocks {
    /// Makes the file at `path` from its bytes, which contain all `sections`. No block is compared
    /// yet.
    pub(super) fn new(path: &Path, bytes: Bytes, sections: Box<[Section]>) -> Blocks {
        let checked = Checked::none(sections.iter().map(Section::blocks));
        let copies = sections.iter().map(|_| OnceLock::new()).collect();
        let matched = sections.iter().map(|_| AtomicBool::new(false)).collect();
        Blocks { path: path.to_owned(), bytes, sections, checked, copies, origin: None, matched }
    }

    /// Makes a file that is filled on demand. Errors name its address.
    pub(super) fn filled(origin: Origin, bytes: Bytes, sections: Box<[Section]>) -> Blocks {
        let path = origin.address();
        Blocks { origin: Some(origin), ..Blocks::new(&path, bytes, sections) }
    }

    /// Returns true if the file is on another machine, and this process reads its blocks when they are first used.
    pub fn is_remote(&self) -> bool {
        self.origin.is_some()
    }

    /// Marks a block that matches its checksum.
    pub(super) fn mark(&self, mover: usize, block: u64) {
        self.checked.mark(mover, block);
    }

    /// Returns true if the frame with `mover` seeds in the mover's row matched its digest as a whole.
    pub(super) fn has_matched(&self, mover: usize) -> bool {
        self.matched[mover - 1].load(Ordering::Acquire)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The whole file. Blocks of a [remote](Blocks::is_remote) file are zeros until they are read.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The sections, by seeds in the mover's row, from 1.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The bytes of a section: data and checksums. See [`Blocks::request_frame`].
    pub fn section_bytes(&self, section: &Section) -> &[u8] {
        &self.bytes[section.offset as usize..section.end() as usize]
    }

    /// Returns true if all blocks have been compared with their checksums.
    #[inline]
    pub fn is_checked(&self) -> bool {
        self.checked.all()
    }

    /// Returns true if all blocks of the frame with `mover` seeds in the mover's row have been
    /// compared.
    #[inline]
    pub fn is_frame_checked(&self, mover: usize) -> bool {
        self.checked.frame(mover)
    }

    /// Returns true if a block of the frame with `mover` seeds in the mover's row has been
    /// compared.
    #[inline]
    pub fn is_block_checked(&self, mover: usize, block: u64) -> bool {
        self.checked.is_marked(mover, block)
    }

    /// Approximate bytes not yet compared with their checksums.
    pub fn unchecked_bytes(&self) -> u64 {
        (self.checked.left() * BLOCK_BYTES as u64).min(self.bytes.len() as u64)
    }

    /// Checks that the file is not shorter than when it was opened, and that all reads of it
    /// succeeded. On success, everything read so far was as it was at opening.
    ///
    /// # Errors
    /// When the file became shorter or a read failed.
    pub fn require_whole(&self) -> Result<(), TableError> {
        match &self.bytes {
            Bytes::Mapped(map) if !map.is_whole() => Err(TableError::damaged(&self.path, Damage::Shrunk)),
            _ => Ok(()),
        }
    }

    /// Compares all blocks not yet compared, in file order.
    ///
    /// # Errors
    /// The first damaged block.
    pub fn check(&self) -> Result<(), TableError> {
        if self.checked.all() && self.is_resident() {
            return Ok(());
        }
        let mut movers: Vec<usize> = (1..=self.sections.len()).collect();
        movers.sort_unstable_by_key(|&mover| self.section(mover).offset);
        self.request_all()?;
        movers.into_iter().try_for_each(|mover| self.check_frame(mover))
    }

    /// Compares the blocks not yet compared in the frame with `mover` seeds in the mover's row.
    ///
    /// # Errors
    /// The first damaged block.
    ///
    /// # Panics
    /// When there is no such frame.
    pub fn check_frame(&self, mover: usize) -> Result<(), TableError> {
        if self.checked.frame(mover) && (self.origin.is_none() || self.has_matched(mover)) {
            return Ok(());
        }
        self.request_frame(mover)?;
        let blocks = 0..self.section(mover).blocks();
        blocks
            .filter(|&block| !self.checked.is_marked(mover, block))
            .try_for_each(|block| self.check_block(mover, block))
    }

    /// Compares a block of the frame with `mover` seeds in the mover's row with its checksum, even
    /// if that was done before. First compares the blocks of the section's head below it, unless
    /// that was done.
    ///
    /// # Errors
    /// When one of them is damaged.
    ///
    /// # Panics
    /// When there is no such frame, or the frame has no such block.
    pub fn check_block(&self, mover: usize, block: u64) -> Result<(), TableError> {
        self.request([(mover, block)])?;
        for before in self.section(mover).blocks_before(block) {
            if !self.checked.is_marked(mover, before) {
                self.compare(mover, before)?;
            }
        }
        self.compare(mover, block)
    }

    /// Compares a block the first time it is read.
    ///
    /// # Errors
    /// As [`Blocks::check_block`].
    #[inline]
    pub(super) fn touch(&self, mover: usize, block: u64) -> Result<(), TableError> {
        if self.checked.all() || self.checked.is_marked(mover, block) { Ok(()) } else { self.first_touch(mover, block) }
    }

    #[cold]
    #[inline(never)]
    fn first_touch(&self, mover: usize, block: u64) -> Result<(), TableError> {
        // The whole block is read now, so one disk request is better than one a page.
        self.read_ahead(mover, block..block + 1);
        self.check_block(mover, block)
    }

    /// Compares the frame with `mover` seeds in the mover's row, checksums included, with its
    /// digest, even if that was done before. Checksums find accidental damage. Only the digest
    /// finds bytes forged together with their checksums. A frame of a file that is filled on demand is
    /// then read from its origin once more, past caches.
    ///
    /// `count` is called with each number of bytes read.
    ///
    /// # Errors
    /// When the frame does not match its digest; [`TableError::Stopped`] when `cancel` is
    /// cancelled.
    ///
    /// # Panics
    /// When there is no such frame.
    pub fn check_digest(&self, mover: usize, cancel: &Cancel, count: &dyn Fn(u64)) -> Result<(), TableError> {
        const PIECE: usize = AHEAD_BLOCKS as usize * BLOCK_BYTES;
        self.request_blocks(mover)?;
        let section = self.section(mover);
        self.read_ahead(mover, 0..AHEAD_BLOCKS);
        let mut hasher = blake3::Hasher::new();
        for (piece, next) in
            self.section_bytes(section).chunks(PIECE).zip((AHEAD_BLOCKS..).step_by(AHEAD_BLOCKS as usize))
        {
            self.read_ahead(mover, next..next + AHEAD_BLOCKS);
            hasher.update(piece);
            count(piece.len() as u64);
            cancel.check()?;
        }
        if *hasher.finalize().as_bytes() != section.digest {
            match &self.origin {
                Some(origin) => self.replace_frame(origin, mover, cancel)?,
                None => return Err(TableError::damaged_part(&self.path, TablePart::Frame, section.offset)),
            }
        }
        (0..section.blocks()).for_each(|block| self.checked.mark(mover, block));
        self.matched[mover - 1].store(true, Ordering::Release);
        Ok(())
    }

    /// Compares one block and marks it. Blocks of the head come first: see [`Checked`].
    fn compare(&self, mover: usize, block: u64) -> Result<(), TableError> {
        let section = self.section(mover);
        if xxh3_64(self.block(section, block)) != self.checksum(section, block) {
            return Err(self.damaged_block(section, block));
        }
        // A one-block frame written over another brings its own checksum. Only the digest shows it.
        if section.blocks() == 1 && *blake3::hash(self.section_bytes(section)).as_bytes() != section.digest {
            return Err(TableError::damaged_part(&self.path, TablePart::Frame, section.offset));
        }
        self.checked.mark(mover, block);
        Ok(())
    }

    /// Returns a copy of the data of the frame with `mover` seeds in the mover's row, made on the
    /// first call and kept. Every block is compared with its checksum.
    ///
    /// The copy is in huge pages where the system has them, which makes random reads faster than in
    /// a mapped file.
    ///
    /// # Errors
    /// When there is not enough memory, or a block is damaged; [`TableError::Stopped`] when
    /// `cancel` is cancelled.
    ///
    /// # Panics
    /// When there is no such frame.
    pub fn copied_section(&self, mover: usize, cancel: &Cancel) -> Result<&[u8], TableError> {
        let place = &self.copies[mover - 1];
        if let Some(copy) = place.get() {
            return Ok(copy);
        }
        let copy = self.copy(mover, cancel)?;
        // If two threads copy at once, one copy is kept.
        Ok(place.get_or_init(|| copy))
    }

    fn copy(&self, mover: usize, cancel: &Cancel) -> Result<HugePages, TableError> {
        self.request_frame(mover)?;
        let section = self.section(mover);
        let mut copy = HugePages::new(section.data as usize).map_err(TableError::mapping(&self.path, section.data))?;
        if section.blocks() == 1 {
            self.check_block(mover, 0)?;
        }
        for block in 0..section.blocks() {
            cancel.check()?;
            if block.is_multiple_of(AHEAD_BLOCKS) {
                self.read_ahead(mover, block + AHEAD_BLOCKS..block + 2 * AHEAD_BLOCKS);
            }
            let bytes = self.block(section, block);
            let copied = &mut copy[block as usize * BLOCK_BYTES..][..bytes.len()];
            copied.copy_from_slice(bytes);
            // Compares the copy while it is in the processor's cache.
            if xxh3_64(copied) != self.checksum(section, block) {
                return Err(self.damaged_block(section, block));
            }
            self.checked.mark(mover, block);
        }
        Ok(copy)
    }

    /// Asks the system to read these blocks of the frame with `mover` seeds in the mover's row,
    /// without waiting. Ignores blocks that the frame does not have.
    ///
    /// # Panics
    /// When there is no such frame.
    pub fn read_ahead(&self, mover: usize, blocks: Range<u64>) {
        let section = self.section(mover);
        let blocks = blocks.start..blocks.end.min(section.blocks());
        if let (Bytes::Mapped(map), false) = (&self.bytes, blocks.is_empty()) {
            let (first, last) = (section.block_bytes(blocks.start), section.block_bytes(blocks.end - 1));
            map.read_ahead(first.start as usize..last.end as usize);
        }
    }

    /// Advises the system that lookups are random, so that it reads nothing around them. Comparing
    /// blocks in file order is slow afterwards without [`Blocks::read_ahead`].
    pub fn expect_random_reads(&self) {
        if let Bytes::Mapped(map) = &self.bytes {
            map.expect_random_reads();
        }
    }

    /// Asks the system to remove the frame with `mover` seeds in the mover's row from the page
    /// cache, where that is possible (Linux). Use it for a frame that has been copied: reading it
    /// from the file is slow afterwards.
    ///
    /// # Panics
    /// When there is no such frame.
    pub fn release(&self, mover: usize) {
        let section = self.section(mover);
        if let Bytes::Mapped(map) = &self.bytes {
            map.release(section.offset as usize..section.end() as usize);
        }
    }

    #[inline]
    fn section(&self, mover: usize) -> &Section {
        &self.sections[mover - 1]
    }

    fn block(&self, section: &Section, block: u64) -> &[u8] {
        let bytes = section.block_bytes(block);
        &self.bytes[bytes.start as usize..bytes.end as usize]
    }

    fn checksum(&self, section: &Section, block: u64) -> u64 {
        let at = section.checksum_at(block) as usize;
        let stored = *self.bytes[at..].first_chunk().expect("the file contains its sections");
        u64::from_le_bytes(stored) ^ section.tag
    }

    fn damaged_block(&self, section: &Section, block: u64) -> TableError {
        TableError::damaged_part(&self.path, TablePart::Block, section.block_bytes(block).start)
    }
}

impl fmt::Debug for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocks")
            .field("path", &self.path)
            .field("sections", &self.sections.len())
            .finish_non_exhaustive()
    }
}
