//! The bytes of a table file: header, directory, digest (docs/format.md in the repository).

use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::error::{Damage, TablePart};
use super::group::{EXCEPTION_BYTES, GROUP_BYTES, GROUP_POSITIONS, PATCH_HEAD_BYTES};
use super::key::TableKey;
use super::section::Section;

pub use super::section::{ALIGNMENT, BLOCK_BYTES};
use crate::game::Rules;
use crate::header::{is_sealed, sealed};
use crate::index::{Frame, MAX_TABLE_SEEDS, layer_positions};

/// The first bytes of every table file.
pub const MAGIC: [u8; 8] = *b"KALAHTB\n";

/// The version of the format.
pub const VERSION: u32 = 1;

/// Bytes of the header.
pub const HEADER_BYTES: usize = std::mem::size_of::<RawHeader>();

/// Bytes of a frame's entry in the directory, which follows the header. The first entry is for the
/// frame with 1 seed in the mover's row.
pub const ENTRY_BYTES: usize = std::mem::size_of::<RawEntry>();

impl TableKey {
    /// Bytes before the first frame: header and directory.
    pub fn prefix_bytes(self) -> u64 {
        (HEADER_BYTES + (self.seeds - 1) * ENTRY_BYTES).next_multiple_of(ALIGNMENT as usize) as u64
    }
}

/// A frame's entry in the directory.
///
/// The parts of a frame are the profile (a byte for each mover's row), the groups, the patches, and
/// the checksums of these three in blocks of [`BLOCK_BYTES`]. They follow each other, each padded
/// with zeros to a multiple of 64 bytes.
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

    /// Number of blocks with a checksum.
    pub fn blocks(&self) -> u64 {
        self.section().blocks()
    }

    /// The bytes of a block, counted from the start of the file.
    pub fn block_bytes(&self, block: u64) -> Range<u64> {
        self.section().block_bytes(block)
    }

    /// Bytes of the frame in the file, checksums included.
    pub fn section_bytes(&self) -> u64 {
        self.section().bytes()
    }

    /// Where the next frame begins.
    pub fn end(&self) -> u64 {
        self.section().end()
    }

    /// Returns true if `patch_bytes` agrees with `exceptions`.
    fn patches_hold_exceptions(&self) -> bool {
        let exceptions = self.exceptions.checked_mul(EXCEPTION_BYTES as u64);
        let heads = exceptions.and_then(|bytes| self.patch_bytes.checked_sub(bytes));
        let head = PATCH_HEAD_BYTES as u64;
        heads.is_some_and(|heads| heads % head == 0 && heads / head <= self.groups.min(self.exceptions))
    }

    /// Returns true if this can be the entry of `frame` in a file of at most `file_bytes` bytes.
    pub fn fits(&self, frame: Frame, file_bytes: u64) -> bool {
        self.rows == frame.mover_rows() as u64
            && self.groups == frame.positions().div_ceil(GROUP_POSITIONS as u64)
            && self.patch_bytes <= file_bytes
            && self.patches_hold_exceptions()
            && self.offset <= file_bytes
            && self.end() <= file_bytes
    }
}

/// The header and directory of a table file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableHeader {
    /// The table.
    pub key: TableKey,
    /// Number of positions.
    pub positions: u64,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// BLAKE3 of the key and the directory, which holds the digests of all frames. Equal for equal
    /// tables.
    pub digest: [u8; 32],
    /// The frames by seeds in the mover's row: entry 0 is for the frame with 1 seed.
    pub entries: Vec<FrameEntry>,
}

/// The header as stored: the first bytes of a file.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct RawHeader {
    magic: [u8; 8],
    version: u32,
    rules: u8,
    pits: u8,
    seeds: u8,
    finished: u8,
    positions: u64,
    file_bytes: u64,
    digest: [u8; 32],
    reserved: [u64; 7],
    checksum: u64,
}

/// A [`FrameEntry`] as stored in a file.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct RawEntry {
    offset: u64,
    rows: u64,
    groups: u64,
    patch_bytes: u64,
    exceptions: u64,
    digest: [u8; 32],
}

impl RawEntry {
    /// Returns the stored form of an entry.
    pub fn new(entry: &FrameEntry) -> RawEntry {
        RawEntry {
            offset: entry.offset.to_le(),
            rows: entry.rows.to_le(),
            groups: entry.groups.to_le(),
            patch_bytes: entry.patch_bytes.to_le(),
            exceptions: entry.exceptions.to_le(),
            digest: entry.digest,
        }
    }

    /// Returns the entry.
    pub fn entry(&self) -> FrameEntry {
        FrameEntry {
            offset: u64::from_le(self.offset),
            rows: u64::from_le(self.rows),
            groups: u64::from_le(self.groups),
            patch_bytes: u64::from_le(self.patch_bytes),
            exceptions: u64::from_le(self.exceptions),
            digest: self.digest,
        }
    }
}

impl RawHeader {
    /// Header of an unfinished table. It names the table and marks it as unfinished.
    pub fn unfinished(key: TableKey) -> RawHeader {
        sealed(RawHeader {
            magic: MAGIC,
            version: VERSION.to_le(),
            rules: key.rules.code(),
            pits: key.pits as u8,
            seeds: key.seeds as u8,
            positions: layer_positions(key.pits, key.seeds).to_le(),
            ..Zeroable::zeroed()
        })
    }

    /// The header of a finished table.
    pub fn finished(key: TableKey, file_bytes: u64, digest: [u8; 32]) -> RawHeader {
        sealed(RawHeader { finished: 1, file_bytes: file_bytes.to_le(), digest, ..RawHeader::unfinished(key) })
    }

    /// Reads the header and key of a file, finished or not.
    ///
    /// # Errors
    /// The fault of the header.
    pub fn read(bytes: &[u8]) -> Result<(RawHeader, TableKey), Damage> {
        let raw: RawHeader = read_header(bytes, &MAGIC, VERSION, "kalah table")?;
        let key = (|| {
            let rules = Rules::from_code(raw.rules)?;
            let key = TableKey { rules, pits: usize::from(raw.pits), seeds: usize::from(raw.seeds) };
            key.is_possible().then_some(key)
        })()
        .ok_or(Damage::Part { part: TablePart::Header, offset: 0 })?;
        Ok((raw, key))
    }

    /// Returns true if the file was finished.
    pub fn is_finished(&self) -> bool {
        self.finished == 1
    }
}

/// Reads the header that a file of this kind begins with: magic number, version, other fields, and its checksum.
pub(super) fn read_header<H: Pod>(bytes: &[u8], magic: &[u8; 8], known: u32, kind: &'static str) -> Result<H, Damage> {
    let raw = bytes.get(..size_of::<H>()).and_then(|raw| raw.strip_prefix(magic));
    let version = raw.and_then(|raw| raw.first_chunk()).ok_or(Damage::Foreign(kind))?;
    let found = u32::from_le_bytes(*version);
    if found != known {
        return Err(Damage::Version { found, known });
    }
    let header: H = bytemuck::pod_read_unaligned(&bytes[..size_of::<H>()]);
    if is_sealed(&header) { Ok(header) } else { Err(Damage::Part { part: TablePart::Header, offset: 0 }) }
}

/// Digest of a table: BLAKE3 of version, rules, pits, seeds and the bytes of the directory.
pub fn table_digest(key: TableKey, directory: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&MAGIC);
    hasher.update(&VERSION.to_le_bytes());
    hasher.update(&[key.rules.code(), key.pits as u8, key.seeds as u8]);
    hasher.update(directory);
    *hasher.finalize().as_bytes()
}

impl TableHeader {
    /// Maximum bytes of a file before its first frame: enough for [`TableHeader::read`].
    pub const MAX_PREFIX_BYTES: usize = HEADER_BYTES + MAX_TABLE_SEEDS * ENTRY_BYTES;

    /// Reads and checks header and directory of a finished file of `found_bytes` bytes. `prefix`
    /// holds at least all bytes before the first frame.
    ///
    /// Checks everything except the contents of frames: their sizes against the key, the digest
    /// against the directory, and the length of the file.
    ///
    /// # Errors
    /// The fault of the file.
    pub fn read(prefix: &[u8], found_bytes: u64) -> Result<TableHeader, Damage> {
        let (raw, key) = RawHeader::read(prefix)?;
        if !raw.is_finished() {
            return Err(Damage::Unfinished);
        }
        let positions = layer_positions(key.pits, key.seeds);
        if u64::from_le(raw.positions) != positions {
            return Err(Damage::Part { part: TablePart::Header, offset: 0 });
        }
        let file_bytes = u64::from_le(raw.file_bytes);
        if found_bytes != file_bytes {
            return Err(Damage::Length { found: found_bytes, expected: file_bytes });
        }
        let damaged = Damage::Part { part: TablePart::Directory, offset: HEADER_BYTES as u64 };
        let prefix = prefix.get(HEADER_BYTES..key.prefix_bytes() as usize).ok_or(damaged.clone())?;
        let (directory, padding) = prefix.split_at((key.seeds - 1) * ENTRY_BYTES);
        if table_digest(key, directory) != raw.digest || padding.iter().any(|&byte| byte != 0) {
            return Err(damaged);
        }
        let entries: Vec<FrameEntry> = directory
            .chunks_exact(ENTRY_BYTES)
            .map(|raw| bytemuck::pod_read_unaligned::<RawEntry>(raw).entry())
            .collect();
        let mut offset = key.prefix_bytes();
        for frame in key.frames() {
            let entry = &entries[frame.mover - 1];
            if entry.offset != offset || !entry.fits(frame, file_bytes) {
                return Err(damaged);
            }
            offset = entry.end();
        }
        if offset != file_bytes {
            return Err(damaged);
        }
        Ok(TableHeader { key, positions, file_bytes, digest: raw.digest, entries })
    }

    /// Number of scores that are exceptions.
    pub fn exceptions(&self) -> u64 {
        self.entries.iter().map(|entry| entry.exceptions).sum()
    }

    /// Bits of the file per position.
    pub fn bits_per_position(&self) -> f64 {
        self.file_bytes as f64 * 8.0 / self.positions as f64
    }
}
