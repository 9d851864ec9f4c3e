use std::fmt;
use std::fs::Metadata;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64;

use super::error::{Damage, TableError};
use super::format::BLOCK_BYTES;
use super::section::{Checked, Section};
use crate::cancel::Cancel;
use crate::header::Kind;
use crate::memory::HugePages;
use crate::source::Source;

/// Blocks that the system reads before a copy needs them: 4 MiB.
pub(super) const AHEAD_BLOCKS: u64 = 64;

/// A block, with the seeds in the mover's row of its frame.
pub(super) type Place = (usize, u64);

/// Blocks that are cached of a file that is not in memory: 4 MiB.
const CACHED_BLOCKS: usize = 64;

/// A cached block.
type Cached = Mutex<Option<(Place, Arc<[u8]>)>>;

/// A file with a section for each frame. It records which blocks have been compared with their
/// checksums. Methods panic for a frame or block that the file does not have.
pub struct Blocks {
    kind: Kind,
    pub(super) source: Box<dyn Source>,
    /// All bytes, once they are in memory or mapped.
    pub(super) bytes: OnceLock<Bytes>,
    /// Held while all bytes are read.
    pub(super) filling: Mutex<()>,
    pub(super) cache: Box<[Cached]>,
    /// By seeds in the mover's row, from 1.
    sections: Box<[Section]>,
    pub(super) checked: Checked,
    /// Copies of the data of sections, at the same places.
    copies: Box<[OnceLock<HugePages>]>,
}

impl Blocks {
    /// Makes a file of this kind with these sections.
    pub(super) fn new(kind: Kind, source: Box<dyn Source>, sections: Box<[Section]>) -> Blocks {
        Blocks {
            kind,
            source,
            bytes: OnceLock::new(),
            filling: Mutex::default(),
            cache: (0..CACHED_BLOCKS).map(|_| Mutex::default()).collect(),
            checked: Checked::none(&sections),
            copies: sections.iter().map(|_| OnceLock::new()).collect(),
            sections,
        }
    }

    /// Returns true if all bytes are in memory or mapped, so that a search may read bytes that it does not check.
    #[inline]
    pub fn is_resident(&self) -> bool {
        self.bytes.get().is_some()
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.source.name()
    }

    /// Bytes of the file.
    pub fn file_bytes(&self) -> u64 {
        self.source.bytes()
    }

    /// The whole file. Panics when it is not [in memory](Blocks::is_resident): see [`Blocks::whole`].
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.resident().expect("all bytes are in memory")
    }

    /// The whole file, if it is in memory.
    #[inline]
    pub(super) fn resident(&self) -> Option<&[u8]> {
        self.bytes.get().map(|bytes| &**bytes)
    }

    /// The sections, by seeds in the mover's row, from 1.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The bytes of a section: data and checksums. Panics as [`Blocks::bytes`].
    pub fn section_bytes(&self, section: &Section) -> &[u8] {
        &self.bytes()[section.offset as usize..section.end() as usize]
    }

    /// Returns true if all blocks have been compared with their checksums.
    #[inline]
    pub fn is_checked(&self) -> bool {
        self.checked.all()
    }

    /// Returns true if all blocks of the frame with `mover` seeds in the mover's row have been compared.
    #[inline]
    pub fn is_frame_checked(&self, mover: usize) -> bool {
        self.checked.frame(mover)
    }

    /// Returns true if a block of the frame with `mover` seeds in the mover's row has been compared.
    #[inline]
    pub fn is_block_checked(&self, mover: usize, block: u64) -> bool {
        self.checked.is_marked(mover, block)
    }

    /// Present metadata of the file on this machine from which bytes are read, if there is one.
    pub fn metadata(&self) -> Option<io::Result<Metadata>> {
        let is_copied = self.is_resident() && self.source.whole().is_none();
        self.source.local().filter(|_| !is_copied).map(|local| local.file.metadata())
    }

    /// Returns an error if the file on this machine became shorter, or its length cannot be read.
    pub fn require_whole(&self) -> Result<(), TableError> {
        let Some(metadata) = self.metadata() else { return Ok(()) };
        let is_whole = metadata.is_ok_and(|metadata| metadata.len() >= self.file_bytes());
        if is_whole { Ok(()) } else { Err(self.damaged(Damage::Shrunk)) }
    }

    /// Marks all blocks as compared. Only for a file that another process of this machine has compared.
    pub fn mark_all(&self) {
        for (section, mover) in self.sections.iter().zip(1..) {
            (0..section.blocks()).for_each(|block| self.checked.mark(mover, block));
        }
    }

    /// Compares all blocks not yet compared, in file order; an error names the first damaged one.
    pub fn check(&self) -> Result<(), TableError> {
        self.in_file_order().into_iter().try_for_each(|mover| self.check_frame(mover))
    }

    /// The frames, as the seeds in the mover's row, in the order of the file, which disks read faster.
    pub fn in_file_order(&self) -> Vec<usize> {
        let mut movers: Vec<usize> = (1..=self.sections.len()).collect();
        movers.sort_unstable_by_key(|&mover| self.section(mover).offset);
        movers
    }

    /// Compares the blocks not yet compared in the frame with `mover` seeds in the mover's row.
    pub(super) fn check_frame(&self, mover: usize) -> Result<(), TableError> {
        self.whole()?;
        if self.checked.frame(mover) {
            return Ok(());
        }
        let blocks = 0..self.section(mover).blocks();
        blocks
            .filter(|&block| !self.checked.is_marked(mover, block))
            .try_for_each(|block| self.check_block(mover, block))
    }

    /// Compares a block of the frame with `mover` seeds in the mover's row with its checksum, even if that was done
    /// before. First compares the blocks of the section's head below it, unless that was done. Damage is an error.
    pub fn check_block(&self, mover: usize, block: u64) -> Result<(), TableError> {
        if !self.is_resident() {
            return self.block(mover, block).map(drop);
        }
        for before in self.section(mover).blocks_before(block) {
            if !self.checked.is_marked(mover, before) {
                self.compare(mover, before)?;
            }
        }
        self.compare(mover, block)
    }

    /// Compares a block the first time it is read.
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

    /// Compares one block and marks it. Blocks of the head come first: see [`Checked`].
    fn compare(&self, mover: usize, block: u64) -> Result<(), TableError> {
        let section = self.section(mover);
        if xxh3_64(self.block_bytes(section, block)) != self.checksum(section, block) {
            return Err(self.damaged_block(section, block));
        }
        // A one-block frame written over another brings its own checksum. Only the digest shows it.
        if section.blocks() == 1 && *blake3::hash(self.section_bytes(section)).as_bytes() != section.digest {
            return Err(self.damaged_part("frame", section.offset));
        }
        self.checked.mark(mover, block);
        Ok(())
    }

    /// Returns a copy of the data of the frame with `mover` seeds in the mover's row, made on the first call and kept.
    /// Every block is compared with its checksum. Random reads of huge pages are faster than those of a mapped file.
    ///
    /// # Errors
    /// When there is not enough memory, a block is damaged, or `cancel` is cancelled.
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
        let section = self.section(mover);
        let mut copy = HugePages::new(section.data as usize).map_err(TableError::io(self.path()))?;
        if self.is_remote() {
            self.whole()?;
        }
        if section.blocks() == 1 {
            self.check_block(mover, 0)?;
        }
        for block in 0..section.blocks() {
            cancel.check()?;
            if block.is_multiple_of(AHEAD_BLOCKS) {
                self.read_ahead(mover, block + AHEAD_BLOCKS..block + 2 * AHEAD_BLOCKS);
            }
            let bytes = section.block_bytes(block);
            let copied = &mut copy[block as usize * BLOCK_BYTES..][..(bytes.end - bytes.start) as usize];
            if !self.is_resident() {
                copied.copy_from_slice(&self.block(mover, block)?);
                continue;
            }
            copied.copy_from_slice(self.block_bytes(section, block));
            // Compares the copy while it is in the processor's cache.
            if xxh3_64(copied) != self.checksum(section, block) {
                return Err(self.damaged_block(section, block));
            }
            self.checked.mark(mover, block);
        }
        Ok(copy)
    }

    /// Asks the system to read these blocks of the frame with `mover` seeds in the mover's row, without waiting.
    pub(super) fn read_ahead(&self, mover: usize, blocks: Range<u64>) {
        let section = self.section(mover);
        let blocks = blocks.start..blocks.end.min(section.blocks());
        if let (Some(local), false) = (self.source.local(), blocks.is_empty()) {
            let (first, last) = (section.block_bytes(blocks.start), section.block_bytes(blocks.end - 1));
            local.read_ahead(first.start as usize..last.end as usize);
        }
    }

    /// Advises the system that lookups are random, so that it reads nothing around them.
    pub fn expect_random_reads(&self) {
        if let Some(local) = self.source.local() {
            local.expect_random_reads();
        }
    }

    /// Asks the system to remove the frame with `mover` seeds in the mover's row, which has been copied, from the page
    /// cache, where that is possible (Linux).
    pub fn release(&self, mover: usize) {
        let section = self.section(mover);
        if let Some(local) = self.source.local() {
            local.release(section.offset as usize..section.end() as usize);
        }
    }

    #[inline]
    pub(super) fn section(&self, mover: usize) -> &Section {
        &self.sections[mover - 1]
    }

    fn block_bytes(&self, section: &Section, block: u64) -> &[u8] {
        let bytes = section.block_bytes(block);
        &self.bytes()[bytes.start as usize..bytes.end as usize]
    }

    fn checksum(&self, section: &Section, block: u64) -> u64 {
        let at = section.checksum_at(block) as usize;
        let stored = *self.bytes()[at..].first_chunk().expect("the file contains its sections");
        u64::from_le_bytes(stored) ^ section.tag
    }

    fn damaged_block(&self, section: &Section, block: u64) -> TableError {
        self.damaged_part("block of scores", section.block_bytes(block).start)
    }

    /// Damage of this file.
    pub fn damaged(&self, damage: Damage) -> TableError {
        TableError::damaged(self.kind, self.path(), damage)
    }

    /// Damage of a part at byte `offset` of this file.
    pub fn damaged_part(&self, part: &'static str, offset: u64) -> TableError {
        self.damaged(Damage::Part { part, offset })
    }
}

impl fmt::Debug for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocks").field("path", &self.path()).finish_non_exhaustive()
    }
}
