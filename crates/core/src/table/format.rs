//! The bytes of a table file: header, directory, digest (docs/format.md in the repository).

use super::group::{EXCEPTION_BYTES, GROUP_BYTES, GROUP_POSITIONS, PATCH_HEAD_BYTES};
use super::key::TableKey;
use super::section::Section;

pub use super::directory::{
    ENTRY_BYTES, Entry, HEADER_BYTES, LayerHeader, RawEntry, RawHeader, VERSION, prefix, table_digest,
};
pub use super::section::{ALIGNMENT, BLOCK_BYTES};
use crate::header::Kind;
use crate::index::Frame;

/// The header and directory of a table.
pub type TableHeader = LayerHeader<FrameEntry>;

/// A frame's entry in the directory. A frame has a profile (a byte for each mover's row), groups, patches, and the
/// checksums of these in blocks of [`BLOCK_BYTES`], each padded with zeros to a multiple of 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameEntry {
    /// Where the frame begins, in bytes from the start of the file.
    pub offset: u64,
    /// Number of mover's rows, which is the size of the profile in bytes.
    pub rows: u64,
    /// Number of groups of scores.
    pub groups: u64,
    /// Bytes of patches.
    pub patch_bytes: u64,
    /// Number of scores that are exceptions.
    pub exceptions: u64,
    /// BLAKE3 of all parts.
    pub digest: [u8; 32],
}

impl FrameEntry {
    /// Where the groups begin, in bytes from the start of the frame.
    pub fn groups_at(&self) -> u64 {
        self.rows.next_multiple_of(ALIGNMENT)
    }

    /// Where the patches begin.
    pub fn patches_at(&self) -> u64 {
        self.groups_at() + self.groups * GROUP_BYTES as u64
    }

    /// Where the checksums begin. They cover all bytes of the frame before them.
    pub fn checksums_at(&self) -> u64 {
        self.patches_at() + self.patch_bytes.next_multiple_of(ALIGNMENT)
    }

    /// The bytes of the frame in the file.
    pub fn section(&self) -> Section {
        Section { offset: self.offset, data: self.checksums_at(), head: self.rows, tag: 0, digest: self.digest }
    }

    /// Returns true if this can be the entry of `frame` in a file of at most `file_bytes` bytes.
    pub(crate) fn fits(&self, frame: Frame, file_bytes: u64) -> bool {
        let exceptions = self.exceptions.checked_mul(EXCEPTION_BYTES as u64);
        let heads = exceptions.and_then(|bytes| self.patch_bytes.checked_sub(bytes));
        let head = PATCH_HEAD_BYTES as u64;
        self.rows == frame.mover_rows() as u64
            && self.groups == frame.positions().div_ceil(GROUP_POSITIONS as u64)
            && self.patch_bytes <= file_bytes
            && heads.is_some_and(|heads| heads % head == 0 && heads / head <= self.groups.min(self.exceptions))
            && self.offset <= file_bytes
            && self.section().end() <= file_bytes
    }
}

impl Entry for FrameEntry {
    const KIND: Kind = Kind::Table;

    type Attached = ();

    fn attached(_key: TableKey, _bytes: &[u8]) -> Option<()> {
        Some(())
    }

    fn read(raw: &RawEntry, frame: Frame, _form: u8, file_bytes: u64) -> Option<FrameEntry> {
        let (offset, [rows, groups, patch_bytes, exceptions], digest) = raw.parts();
        let entry = FrameEntry { offset, rows, groups, patch_bytes, exceptions, digest };
        entry.fits(frame, file_bytes).then_some(entry)
    }

    fn raw(&self) -> RawEntry {
        RawEntry::of(self.offset, [self.rows, self.groups, self.patch_bytes, self.exceptions], self.digest)
    }

    fn section_of(&self, _mover: usize) -> Section {
        self.section()
    }
}

impl TableHeader {
    /// Number of scores that are exceptions.
    pub fn exceptions(&self) -> u64 {
        self.entries.iter().map(|entry| entry.exceptions).sum()
    }
}
