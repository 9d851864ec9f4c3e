use bytemuck::{Pod, Zeroable};
use xxhash_rust::xxh3::xxh3_64;

use super::Damage;
use super::line::{EXCEPTION_BYTES, LINE_BYTES, LINE_POSITIONS, PATCH_HEAD_BYTES};
use crate::game::Rules;
use crate::index::{Frame, MAX_TABLE_PITS, MAX_TABLE_SEEDS, layer_positions};

/// The first bytes of every table file.
pub(super) const MAGIC: [u8; 8] = *b"KALAHTB\n";

/// The version of the format.
pub(super) const VERSION: u32 = 1;

/// Bytes that one checksum covers.
pub const BLOCK_BYTES: usize = 1 << 16;

/// Every part of a file begins at a multiple of this many bytes, so lines are cache lines of the mapping.
pub(super) const ALIGNMENT: u64 = 64;

pub(super) const HEADER_BYTES: usize = std::mem::size_of::<RawHeader>();
pub(super) const ENTRY_BYTES: usize = std::mem::size_of::<RawEntry>();

/// What a table is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TableKey {
    /// The rule set.
    pub rules: Rules,
    /// Pits a side, 1 to [`MAX_TABLE_PITS`].
    pub pits: usize,
    /// Seeds in play, 2 to [`MAX_TABLE_SEEDS`].
    pub seeds: usize,
}

impl TableKey {
    /// The frames in the order in which they stand in the file: those of few seeds on one side first, each followed by
    /// its mirror image, as a pair is computed together.
    pub fn frames(self) -> impl Iterator<Item = Frame> {
        let pits = self.pits;
        (1..=self.seeds / 2).flat_map(move |mover| {
            let frame = Frame { pits, mover, other: self.seeds - mover };
            [frame, frame.mirrored()].into_iter().take(if frame.mover == frame.other { 1 } else { 2 })
        })
    }

    /// Bytes before the first frame: header and directory.
    pub(super) fn prefix_bytes(self) -> u64 {
        (HEADER_BYTES + (self.seeds - 1) * ENTRY_BYTES).next_multiple_of(ALIGNMENT as usize) as u64
    }
}

impl std::fmt::Display for TableKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} with {} pits and {} seeds", self.rules, self.pits, self.seeds)
    }
}

/// A frame's entry in the directory.
///
/// The parts of a frame follow each other, each padded with zeros to a multiple of 64 bytes: profile (a byte
/// for each mover's row), lines, patches, checksums of these three in blocks of [`BLOCK_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameEntry {
    /// Where it begins, in bytes from the start of the file.
    pub offset: u64,
    /// Mover's rows: bytes of the profile.
    pub rows: u64,
    /// Lines.
    pub lines: u64,
    /// Bytes of patches.
    pub patch_bytes: u64,
    /// Scores that are exceptions.
    pub exceptions: u64,
    /// BLAKE3 of all its parts.
    pub digest: [u8; 32],
}

impl FrameEntry {
    /// Where the lines begin, in bytes from the start of the frame.
    pub(crate) fn lines_at(&self) -> u64 {
        self.rows.next_multiple_of(ALIGNMENT)
    }

    /// Where the patches begin.
    pub(crate) fn patches_at(&self) -> u64 {
        self.lines_at() + self.lines * LINE_BYTES as u64
    }

    /// Where the checksums begin: the bytes before them are what they cover.
    pub fn checksums_at(&self) -> u64 {
        self.patches_at() + self.patch_bytes.next_multiple_of(ALIGNMENT)
    }

    /// Blocks that have a checksum.
    pub fn blocks(&self) -> u64 {
        self.checksums_at().div_ceil(BLOCK_BYTES as u64)
    }

    /// Bytes of the frame.
    pub(super) fn section_bytes(&self) -> u64 {
        self.checksums_at() + (self.blocks() * 8).next_multiple_of(ALIGNMENT)
    }

    /// Where the next frame begins.
    pub(super) fn end(&self) -> u64 {
        self.offset + self.section_bytes()
    }

    /// Whether the patches can hold as many exceptions as it says.
    fn patches_hold_exceptions(&self) -> bool {
        let exceptions = self.exceptions.checked_mul(EXCEPTION_BYTES as u64);
        let heads = exceptions.and_then(|bytes| self.patch_bytes.checked_sub(bytes));
        let head = PATCH_HEAD_BYTES as u64;
        heads.is_some_and(|heads| heads % head == 0 && heads / head <= self.lines.min(self.exceptions))
    }

    /// Whether it can be the entry of `frame` in a file of at most `file_bytes` bytes.
    pub(super) fn fits(&self, frame: Frame, file_bytes: u64) -> bool {
        self.rows == frame.mover_rows() as u64
            && self.lines == frame.positions().div_ceil(LINE_POSITIONS as u64)
            && self.patch_bytes <= file_bytes
            && self.patches_hold_exceptions()
            && self.offset <= file_bytes
            && self.end() <= file_bytes
    }
}

/// What a table file says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableHeader {
    /// What the table is about.
    pub key: TableKey,
    /// Positions.
    pub positions: u64,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// BLAKE3 of the key and the directory, which holds the digests of all frames: equal for equal tables.
    pub digest: [u8; 32],
    /// The frames by seeds in the mover's row: entry 0 is the frame with 1 seed there.
    pub entries: Vec<FrameEntry>,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct RawHeader {
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

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct RawEntry {
    offset: u64,
    rows: u64,
    lines: u64,
    patch_bytes: u64,
    exceptions: u64,
    digest: [u8; 32],
}

impl RawEntry {
    pub(super) fn new(entry: &FrameEntry) -> RawEntry {
        RawEntry {
            offset: entry.offset.to_le(),
            rows: entry.rows.to_le(),
            lines: entry.lines.to_le(),
            patch_bytes: entry.patch_bytes.to_le(),
            exceptions: entry.exceptions.to_le(),
            digest: entry.digest,
        }
    }

    pub(super) fn entry(&self) -> FrameEntry {
        FrameEntry {
            offset: u64::from_le(self.offset),
            rows: u64::from_le(self.rows),
            lines: u64::from_le(self.lines),
            patch_bytes: u64::from_le(self.patch_bytes),
            exceptions: u64::from_le(self.exceptions),
            digest: self.digest,
        }
    }
}

impl RawHeader {
    /// The header of a table under way: it tells what the table will be, and that it is not finished.
    pub(super) fn unfinished(key: TableKey) -> RawHeader {
        RawHeader {
            magic: MAGIC,
            version: VERSION.to_le(),
            rules: key.rules.code(),
            pits: key.pits as u8,
            seeds: key.seeds as u8,
            positions: layer_positions(key.pits, key.seeds).to_le(),
            ..Zeroable::zeroed()
        }
        .sealed()
    }

    /// The header of a finished table.
    pub(super) fn finished(key: TableKey, file_bytes: u64, digest: [u8; 32]) -> RawHeader {
        RawHeader { finished: 1, file_bytes: file_bytes.to_le(), digest, ..RawHeader::unfinished(key) }.sealed()
    }

    fn sealed(mut self) -> RawHeader {
        self.checksum = 0;
        self.checksum = xxh3_64(bytemuck::bytes_of(&self)).to_le();
        self
    }

    /// Reads the header of a file, finished or not.
    pub(super) fn read(bytes: &[u8]) -> Result<(RawHeader, TableKey), Damage> {
        let raw = bytes.get(..HEADER_BYTES);
        if raw.is_none_or(|raw| raw[..MAGIC.len()] != MAGIC) {
            return Err(Damage::Foreign("kalah table"));
        }
        let raw: RawHeader = bytemuck::pod_read_unaligned(raw.unwrap_or_default());
        let version = u32::from_le(raw.version);
        if version != VERSION {
            return Err(Damage::Version { found: version, known: VERSION });
        }
        let damaged = Damage::Part { part: "header", offset: 0 };
        if raw.sealed().checksum != raw.checksum {
            return Err(damaged);
        }
        let key = (|| {
            let rules = Rules::from_code(raw.rules)?;
            let (pits, seeds) = (usize::from(raw.pits), usize::from(raw.seeds));
            let fits = (1..=MAX_TABLE_PITS).contains(&pits) && (2..=MAX_TABLE_SEEDS).contains(&seeds);
            fits.then_some(TableKey { rules, pits, seeds })
        })()
        .ok_or(damaged)?;
        Ok((raw, key))
    }

    pub(super) fn is_finished(&self) -> bool {
        self.finished == 1
    }
}

/// The digest of a table: BLAKE3 of version, rules, pits, seeds and the bytes of the directory.
pub(super) fn table_digest(key: TableKey, directory: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&MAGIC);
    hasher.update(&VERSION.to_le_bytes());
    hasher.update(&[key.rules.code(), key.pits as u8, key.seeds as u8]);
    hasher.update(directory);
    *hasher.finalize().as_bytes()
}

impl TableHeader {
    /// Reads and checks header and directory of a finished file.
    ///
    /// Everything but the frames themselves is covered: their geometry agrees with the key, the digest with the
    /// directory, and the length with the file.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn read(file: &[u8]) -> Result<TableHeader, Damage> {
        let (raw, key) = RawHeader::read(file)?;
        if !raw.is_finished() {
            return Err(Damage::Unfinished);
        }
        let positions = layer_positions(key.pits, key.seeds);
        if u64::from_le(raw.positions) != positions {
            return Err(Damage::Part { part: "header", offset: 0 });
        }
        let file_bytes = u64::from_le(raw.file_bytes);
        if file.len() as u64 != file_bytes {
            return Err(Damage::Length { found: file.len() as u64, expected: file_bytes });
        }
        let damaged = Damage::Part { part: "directory", offset: HEADER_BYTES as u64 };
        let prefix = file.get(HEADER_BYTES..key.prefix_bytes() as usize).ok_or(damaged.clone())?;
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

    /// Scores that are exceptions to the 4 bits.
    pub fn exceptions(&self) -> u64 {
        self.entries.iter().map(|entry| entry.exceptions).sum()
    }

    /// Bits of the file a position.
    pub fn bits_per_position(&self) -> f64 {
        self.file_bytes as f64 * 8.0 / self.positions as f64
    }
}
