//! The directory of an archive, and the chunks of a frame (docs/archive.md).

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use kalah_core::directory::Directory;
use kalah_core::header::Kind;
use kalah_core::index::Frame;
use kalah_core::source::LocalFile;
use kalah_core::table::format::{ALIGNMENT, Entry, LayerHeader, RawEntry};
use kalah_core::table::{LayerFile, Section, TableError, TableKey};

use super::order::Grid;

/// Side of the chunks that [`super::compress()`] makes.
pub const CHUNK_SIDE: usize = 2048;

/// Sides that chunks can have: the powers of two in this range.
pub(super) const CHUNK_SIDES: RangeInclusive<usize> = 16..=4096;

/// Bytes of the length of a chunk.
const LENGTH_BYTES: usize = size_of::<u32>();

/// Path of a table's archive in `directory`: the table's path
/// with `.archive` added.
pub fn archive_path(directory: impl Into<Directory>, key: TableKey) -> PathBuf {
    directory.into().file(&key.name_of(Kind::Archive))
}

/// The description in an archive's header.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArchiveInfo {
    /// The compressed table.
    pub key: TableKey,
    /// Number of positions.
    pub positions: u64,
    /// The digest of the table.
    pub digest: [u8; 32],
    /// Bytes of the table's file.
    pub table_bytes: u64,
    /// Bytes of the archive.
    pub archive_bytes: u64,
    /// Maximum side of a chunk: chunks have at most the square of this many positions.
    pub chunk_side: usize,
    /// Number of chunks.
    pub chunks: u64,
}

impl ArchiveInfo {
    /// The description in this header.
    pub(super) fn new(header: &ArchiveHeader) -> ArchiveInfo {
        let sum = |figure: fn(&ArchiveEntry) -> u64| header.entries.iter().map(figure).sum::<u64>();
        ArchiveInfo {
            key: header.key,
            positions: header.positions,
            digest: header.source,
            table_bytes: header.key.prefix_bytes() + sum(|entry| entry.table_bytes),
            archive_bytes: header.file_bytes,
            chunk_side: 1 << header.form,
            chunks: sum(|entry| entry.chunks),
        }
    }

    /// Bits of the archive per position.
    pub fn bits_per_position(&self) -> f64 {
        self.archive_bytes as f64 * 8.0 / self.positions as f64
    }
}

/// The header and directory of an archive. Byte 15 is the binary logarithm of the side of its chunks.
pub(super) type ArchiveHeader = LayerHeader<ArchiveEntry>;

/// A frame's entry in the directory. The frame has its chunks, then the list of their lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchiveEntry {
    /// Where the frame begins, in bytes from the start of the file.
    pub offset: u64,
    /// Bytes of the chunks.
    pub chunk_bytes: u64,
    /// Number of chunks.
    pub chunks: u64,
    /// Bytes of the frame in the table.
    pub table_bytes: u64,
    /// BLAKE3 of chunks, list and checksums.
    pub digest: [u8; 32],
}

impl Entry for ArchiveEntry {
    const KIND: Kind = Kind::Archive;

    type Attached = ();

    fn attached(_key: TableKey, _bytes: &[u8]) -> Option<()> {
        Some(())
    }

    fn read(raw: &RawEntry, frame: Frame, form: u8, file_bytes: u64) -> Option<ArchiveEntry> {
        let (offset, [chunk_bytes, chunks, table_bytes, unused], digest) = raw.parts();
        let side = 1usize.checked_shl(form.into()).filter(|side| CHUNK_SIDES.contains(side))?;
        let is_sound = chunks == Grid::new(frame, side).chunks() as u64
            && chunk_bytes.max(offset) <= file_bytes
            && table_bytes <= 4 * frame.positions() + (1 << 20)
            && unused == 0;
        is_sound.then_some(ArchiveEntry { offset, chunk_bytes, chunks, table_bytes, digest })
    }

    fn raw(&self) -> RawEntry {
        RawEntry::of(self.offset, [self.chunk_bytes, self.chunks, self.table_bytes, 0], self.digest)
    }

    fn section_of(&self, _mover: usize) -> Section {
        let data = (self.chunk_bytes + self.chunks * LENGTH_BYTES as u64).next_multiple_of(ALIGNMENT);
        Section { offset: self.offset, data, head: 0, tag: 0, digest: self.digest }
    }
}

/// A chunk in a file.
#[derive(Clone, Copy)]
pub(super) struct Chunk {
    /// Where it begins, in bytes from the start of its frame.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u32,
}

/// An archive, whose bytes are read when they are needed.
pub(super) type Archive = LayerFile<ArchiveEntry>;

/// Reads the description of an archive. Header and directory are checked, chunks are not.
///
/// # Errors
/// When it cannot be read, or is damaged or foreign.
pub fn read_info(archive: impl AsRef<Path>) -> Result<ArchiveInfo, TableError> {
    open(archive.as_ref()).map(|archive| ArchiveInfo::new(archive.header()))
}

/// Opens the archive at `path`: see [`LayerFile::of`].
pub(super) fn open(path: &Path) -> Result<Archive, TableError> {
    Archive::of(Kind::Archive, Box::new(LocalFile::open(path).map_err(TableError::io(path))?))
}

/// Compares a frame of an archive with its digest, and returns its chunks.
pub(super) fn chunks(archive: &Archive, frame: Frame) -> Result<Vec<Chunk>, TableError> {
    let (entry, blocks) = (&archive.header().entries[frame.mover - 1], archive.blocks());
    blocks.check_digest(frame.mover, |_| Ok(()))?;
    let list_at = entry.chunk_bytes;
    let list = blocks.part(frame.mover, list_at..list_at + entry.chunks * LENGTH_BYTES as u64)?;
    let mut offset = 0;
    let chunk = |&bytes: &[u8; LENGTH_BYTES]| {
        let chunk = Chunk { offset, bytes: u32::from_le_bytes(bytes) };
        offset += u64::from(chunk.bytes);
        chunk
    };
    let chunks = list.as_chunks().0.iter().map(chunk).collect();
    if offset == list_at { Ok(chunks) } else { Err(blocks.damaged_part("chunk", entry.offset + list_at)) }
}
