use std::ops::RangeInclusive;
use std::path::PathBuf;

use kalah_core::directories::Directories;
use kalah_core::table::TableKey;

/// Side of the chunks that [`super::compress()`] makes.
pub const CHUNK_SIDE: usize = 2048;

/// Sides that chunks can have.
pub const CHUNK_SIDES: RangeInclusive<usize> = 16..=4096;

/// Path of a table's archive in `directory`, or in the first of several that has it: the table's path
/// with `.zst` added.
pub fn archive_path(directories: impl Into<Directories>, key: TableKey) -> PathBuf {
    directories.into().file(&(key.file_name() + ".zst"))
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
    pub chunks: u32,
}

impl ArchiveInfo {
    /// Bits of the archive per position.
    pub fn bits_per_position(&self) -> f64 {
        self.archive_bytes as f64 * 8.0 / self.positions as f64
    }
}
