use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use super::checked::Checked;
use super::error::{Part, TableError};
use super::format::BLOCK_BYTES;
use super::mapping::Mapping;
use super::section::Section;
use crate::file;
use crate::memory::HugePages;

/// The bytes of a file: mapped, or in memory.
pub(super) enum Bytes {
    Mapped(Mapping),
    Copied(HugePages),
    Owned(Vec<u8>),
}

impl Bytes {
    /// Maps the file at `path`.
    ///
    /// # Errors
    /// When it cannot be opened or mapped, or is not a regular file.
    pub fn mapped(path: &Path) -> Result<Bytes, TableError> {
        Mapping::open(path).map(Bytes::Mapped)
    }

    /// Reads the file at `path` into memory.
    ///
    /// # Errors
    /// When it cannot be read, is not a regular file, or there is not enough memory.
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
            Bytes::Copied(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}

/// A file in memory with a section for each frame, and which of their blocks were compared with their checksums.
pub struct Blocks {
    path: PathBuf,
    bytes: Bytes,
    /// By seeds in the mover's row, from 1.
    sections: Box<[Section]>,
    checked: Checked,
}

impl Blocks {
    /// The file at `path` with these bytes, which contain all `sections`; nothing is compared yet.
    pub(super) fn new(path: &Path, bytes: Bytes, sections: Box<[Section]>) -> Blocks {
        let checked = Checked::none(sections.iter().map(Section::blocks));
        Blocks { path: path.to_owned(), bytes, sections, checked }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The whole file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The sections, by seeds in the mover's row, from 1.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The bytes of a section: data and checksums.
    pub fn section_bytes(&self, section: &Section) -> &[u8] {
        &self.bytes[section.offset as usize..section.end() as usize]
    }

    /// Whether all blocks were compared with their checksums.
    #[inline]
    pub fn is_checked(&self) -> bool {
        self.checked.all()
    }

    /// Whether all blocks of the frame with `mover` seeds in the mover's row were compared.
    #[inline]
    pub fn is_frame_checked(&self, mover: usize) -> bool {
        self.checked.frame(mover)
    }

    /// Whether a block of the frame with `mover` seeds in the mover's row was compared.
    #[inline]
    pub fn is_block_checked(&self, mover: usize, block: u64) -> bool {
        self.checked.is_marked(mover, block)
    }

    /// About how many bytes were not compared with their checksums yet.
    pub fn unchecked_bytes(&self) -> u64 {
        (self.checked.left() * BLOCK_BYTES as u64).min(self.bytes.len() as u64)
    }

    /// Compares all blocks that were not compared before, in the order of the file.
    ///
    /// # Errors
    /// The first damaged block.
    pub fn check(&self) -> Result<(), TableError> {
        if self.checked.all() {
            return Ok(());
        }
        let mut movers: Vec<usize> = (1..=self.sections.len()).collect();
        movers.sort_unstable_by_key(|&mover| self.section(mover).offset);
        movers.into_iter().try_for_each(|mover| self.check_frame(mover))
    }

    /// Compares the blocks of the frame with `mover` seeds in the mover's row that were not compared before.
    ///
    /// # Errors
    /// The first damaged block.
    ///
    /// # Panics
    /// When there is no such frame.
    pub fn check_frame(&self, mover: usize) -> Result<(), TableError> {
        if self.checked.frame(mover) {
            return Ok(());
        }
        let blocks = 0..self.section(mover).blocks();
        blocks
            .filter(|&block| !self.checked.is_marked(mover, block))
            .try_for_each(|block| self.check_block(mover, block))
    }

    /// Compares a block of the frame with `mover` seeds in the mover's row with its checksum, even if it was compared
    /// before; and, before it, those blocks of the section's head below it that were not.
    ///
    /// # Errors
    /// When one of them is damaged.
    ///
    /// # Panics
    /// When there is no such frame, or the frame has no such block.
    pub fn check_block(&self, mover: usize, block: u64) -> Result<(), TableError> {
        for before in self.section(mover).blocks_before(block) {
            if !self.checked.is_marked(mover, before) {
                self.compare(mover, before)?;
            }
        }
        self.compare(mover, block)
    }

    /// Compares a block when it is read for the first time.
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
        self.check_block(mover, block)
    }

    /// Compares one block and marks it. Those of the head come first: see [`Checked`].
    fn compare(&self, mover: usize, block: u64) -> Result<(), TableError> {
        let section = self.section(mover);
        if xxh3_64(self.block(section, block)) != self.checksum(section, block) {
            return Err(self.damaged_block(section, block));
        }
        // A frame of one block that overwrote another one brought its own checksum, so only the digest shows it.
        if section.blocks() == 1 && *blake3::hash(self.section_bytes(section)).as_bytes() != section.digest {
            return Err(TableError::damaged_part(&self.path, Part::Frame, section.offset));
        }
        self.checked.mark(mover, block);
        Ok(())
    }

    /// A copy in memory, in huge pages where the system has them. Every block is compared with its checksum. `None` if
    /// `stop` was set meanwhile.
    ///
    /// # Errors
    /// When there is not enough memory, or a block is damaged.
    pub fn copied(&self, stop: &AtomicBool) -> Result<Option<Blocks>, TableError> {
        let bytes = self.bytes.len();
        let mut map = HugePages::new(bytes).map_err(TableError::mapping(&self.path, bytes as u64))?;
        let checked = Checked::none(self.sections.iter().map(Section::blocks));
        // Everything before the first frame.
        let frames = self.sections.iter().map(|section| section.offset as usize).min().unwrap_or(0);
        map[..frames].copy_from_slice(&self.bytes[..frames]);
        for (section, mover) in self.sections.iter().zip(1..) {
            if section.blocks() == 1 {
                self.check_block(mover, 0)?;
            }
            for block in 0..section.blocks() {
                if stop.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                let start = section.block_bytes(block).start as usize;
                let bytes = self.block(section, block);
                let copy = &mut map[start..][..bytes.len()];
                copy.copy_from_slice(bytes);
                // The copy is compared while it is in the processor's cache.
                if xxh3_64(copy) != self.checksum(section, block) {
                    return Err(self.damaged_block(section, block));
                }
                checked.mark(mover, block);
                self.checked.mark(mover, block);
            }
            let checksums = section.checksum_at(0) as usize..section.end() as usize;
            map[checksums.clone()].copy_from_slice(&self.bytes[checksums]);
        }
        let (path, sections) = (self.path.clone(), self.sections.clone());
        Ok(Some(Blocks { path, bytes: Bytes::Copied(map), sections, checked }))
    }

    #[inline]
    fn section(&self, mover: usize) -> &Section {
        &self.sections[mover - 1]
    }

    fn block(&self, section: &Section, block: u64) -> &[u8] {
        let bytes = section.block_bytes(block);
        &self.bytes[bytes.start as usize..bytes.end as usize]
    }

    /// The checksum that a block should have.
    fn checksum(&self, section: &Section, block: u64) -> u64 {
        let at = section.checksum_at(block) as usize;
        let stored = *self.bytes[at..].first_chunk().expect("the file contains its sections");
        u64::from_le_bytes(stored) ^ section.tag
    }

    fn damaged_block(&self, section: &Section, block: u64) -> TableError {
        TableError::damaged_part(&self.path, Part::Block, section.block_bytes(block).start)
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
