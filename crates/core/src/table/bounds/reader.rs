use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

use super::format::{BoundHeader, LINE_BYTES};
use super::frame::FrameBounds;
use crate::cancel::Cancel;
use crate::directories::Directories;
use crate::evaluation::Network;
use crate::index::Frame;
use crate::table::BLOCK_BYTES;
use crate::table::blocks::Blocks;
use crate::table::bytes::Bytes;
use crate::table::error::{TableError, TablePart};
use crate::table::key::TableKey;
use crate::table::opening::Storage;

/// A bound table in memory: a mapped file, or bytes that were read.
///
/// Opening checks header, network and directory. Blocks are compared with their checksums as in
/// [`crate::table::Table`]: [`BoundTable::code`] compares the block that it reads,
/// [`Blocks::check`] compares all, and [`BoundTable::frame_unchecked`] leaves this to the
/// caller.
pub struct BoundTable {
    header: BoundHeader,
    network: Network,
    blocks: Blocks,
}

impl BoundTable {
    /// Opens the bound table at `path`, mapped or read as by [`crate::table::Table::open`]. A file
    /// named like a bound table must hold that layer.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged or foreign, does not match its name, or does not
    /// fit in memory.
    pub fn open(path: impl AsRef<Path>) -> Result<BoundTable, TableError> {
        let path = path.as_ref();
        BoundTable::new(path, Bytes::open(path, Storage::default())?)?.expect_named()
    }

    /// Opens the bound table of the layer `key` in the first of `directories` that has it; `None` if
    /// the file does not exist. Copies in other directories may have other networks or cuts.
    ///
    /// # Errors
    /// As [`BoundTable::open`], except when the file does not exist.
    pub fn open_key(directories: impl Into<Directories>, key: TableKey) -> Result<Option<BoundTable>, TableError> {
        match BoundTable::open(directories.into().file(&key.bounds_name())) {
            Err(TableError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// Reads a bound table from memory; `path` only names it in errors.
    ///
    /// # Errors
    /// When the bytes are not a valid bound table.
    pub fn from_bytes(path: impl AsRef<Path>, bytes: Vec<u8>) -> Result<BoundTable, TableError> {
        BoundTable::new(path.as_ref(), Bytes::Owned(bytes))
    }

    fn new(path: &Path, bytes: Bytes) -> Result<BoundTable, TableError> {
        let read = BoundHeader::read(&bytes, bytes.len() as u64);
        let (header, network) = read.map_err(|damage| TableError::damaged(path, damage))?;
        let sections = header.sections();
        Ok(BoundTable { header, network, blocks: Blocks::new(path, bytes, sections) })
    }

    /// Returns the bound table if it matches its file name, or the file is not named like a bound
    /// table.
    fn expect_named(self) -> Result<BoundTable, TableError> {
        let named = TableKey::named_bounds(self.path()).unwrap_or(self.key());
        TableError::unless_expected(self.path(), self.key(), named).map(|()| self)
    }

    /// Returns the codes of a copy in memory of the frame with `mover` seeds in the mover's row.
    /// See [`Blocks::copied_section`].
    ///
    /// # Errors
    /// When there is not enough memory, a block is damaged, or `cancel` is cancelled.
    ///
    /// # Panics
    /// When the layer has no such frame.
    pub fn copied_frame(&self, mover: usize, cancel: &Cancel) -> Result<FrameBounds<'_>, TableError> {
        Ok(self.frame_in(mover, self.blocks.copied_section(mover, cancel)?))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.blocks.path()
    }

    /// The header and directory.
    pub fn header(&self) -> &BoundHeader {
        &self.header
    }

    /// The layer.
    #[inline]
    pub fn key(&self) -> TableKey {
        self.header.key
    }

    /// The network that evaluates its positions.
    #[inline]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The bytes, and a record of which blocks have been compared with their checksums.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// The codes of the frame with `mover` seeds in the mover's row (1 to seeds - 1). No checksums
    /// are compared.
    ///
    /// # Panics
    /// When the layer has no such frame.
    #[inline]
    pub fn frame_unchecked(&self, mover: usize) -> FrameBounds<'_> {
        let entry = &self.header.entries[mover - 1];
        self.frame_in(mover, &self.blocks.bytes()[entry.offset as usize..][..entry.lines as usize * LINE_BYTES])
    }

    #[inline]
    fn frame_in<'a>(&self, mover: usize, codes: &'a [u8]) -> FrameBounds<'a> {
        let key = self.header.key;
        let frame = Frame { pits: key.pits, mover, other: key.seeds - mover };
        FrameBounds::new(frame, self.header.entries[mover - 1].cuts, codes)
    }

    /// Offset in the file of the byte that holds the code of the position with these ranks of rows
    /// and `mover` seeds in the mover's row.
    ///
    /// # Panics
    /// When the layer has no such frame.
    pub fn code_at(&self, mover: usize, mover_rank: u32, other_rank: u32) -> u64 {
        self.header.entries[mover - 1].offset + self.frame_unchecked(mover).byte(mover_rank, other_rank) as u64
    }

    /// Code of the position with these ranks of rows and `mover` seeds in the mover's row (1 to
    /// seeds - 1). The first read of a block compares it with its checksum.
    ///
    /// # Errors
    /// When this block is damaged.
    ///
    /// # Panics
    /// When the layer has no such frame, or the frame no such ranks.
    #[inline]
    pub fn code(&self, mover: usize, mover_rank: u32, other_rank: u32) -> Result<u8, TableError> {
        let frame = self.frame_unchecked(mover);
        assert!((mover_rank as usize) < frame.frame().mover_rows(), "no such ranks");
        self.blocks.touch(mover, (frame.byte(mover_rank, other_rank) / BLOCK_BYTES) as u64)?;
        Ok(frame.code(mover_rank, other_rank))
    }

    /// The error for a code that contradicts the position.
    ///
    /// # Panics
    /// When the layer has no such frame.
    pub fn damaged_code(&self, mover: usize, mover_rank: u32, other_rank: u32) -> TableError {
        TableError::damaged_part(self.path(), TablePart::Score, self.code_at(mover, mover_rank, other_rank))
    }
}

impl fmt::Debug for BoundTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundTable").field("path", &self.path()).field("key", &self.key()).finish_non_exhaustive()
    }
}
