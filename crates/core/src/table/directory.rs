//! Header and directory of the files of a layer: tables, pieces, bound tables, archives (docs/format.md in the
//! repository). [`Entry`] is what differs.

use std::fmt;

use bytemuck::{Pod, Zeroable};
use xxhash_rust::xxh3::xxh3_64;

use super::error::Damage;
use super::key::TableKey;
use super::section::{ALIGNMENT, Section};

use crate::game::Rules;
use crate::header::{self, Kind, Start, sealed};
use crate::index::{Frame, MAX_TABLE_PITS, MAX_TABLE_SEEDS, layer_positions};

/// The version of the format of tables, bound tables, archives and pieces.
pub const VERSION: u32 = 1;

/// Bytes of the header.
pub const HEADER_BYTES: usize = std::mem::size_of::<RawHeader>();

/// Bytes of a frame's entry in the directory, which follows the header: the frame with the fewest seeds to move first.
pub const ENTRY_BYTES: usize = std::mem::size_of::<RawEntry>();

/// Byte 15 of a finished table.
const FINISHED: u8 = 1;

/// Bytes before the first frame, with this number of frames and of bytes after the directory.
fn prefix_bytes(frames: usize, attached: usize) -> usize {
    (HEADER_BYTES + frames * ENTRY_BYTES + attached).next_multiple_of(ALIGNMENT as usize)
}

/// The frames in a file of the layer `key`, in their order: those of one pair in a piece, where byte 15 is the seeds
/// in the smaller row, otherwise all. `None` if there is no such pair.
fn frames(kind: Kind, key: TableKey, form: u8) -> Option<Vec<Frame>> {
    match kind {
        Kind::Piece => key.pairs().find(|pair| pair.small == usize::from(form)).map(|pair| pair.frames().collect()),
        _ => Some(key.frames().collect()),
    }
}

/// A frame's entry in the directory, as one kind of file describes frames.
pub trait Entry: Copy + Sized {
    /// The kind of file. The same entries are in pieces as in tables.
    const KIND: Kind;

    /// Data behind the directory.
    type Attached: Clone + fmt::Debug + PartialEq + Eq;

    /// Number of bytes that follow the directory of a layer with `pits` pits a side.
    fn attached_bytes(_pits: usize) -> usize {
        0
    }

    /// Reads these bytes; `None` if they are damaged.
    fn attached(key: TableKey, bytes: &[u8]) -> Option<Self::Attached>;

    /// Reads the entry of `frame` in a file of at most `file_bytes` bytes with `form` in byte 15. `None` if it
    /// cannot be one.
    fn read(raw: &RawEntry, frame: Frame, form: u8, file_bytes: u64) -> Option<Self>;

    /// Returns its stored form.
    fn raw(&self) -> RawEntry;

    /// The bytes of the frame, which has `mover` seeds in the mover's row, in the file.
    fn section_of(&self, mover: usize) -> Section;
}

/// The header and directory of a file of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LayerHeader<E: Entry> {
    /// The layer.
    pub key: TableKey,
    /// Byte 15: 1 in a table, the bits of a code in a bound table, the seeds in the smaller row in a piece.
    pub form: u8,
    /// Number of positions of the layer.
    pub positions: u64,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// BLAKE3 of the key and the directory, which holds the digests of all frames. Equal for equal files.
    pub digest: [u8; 32],
    /// Digest of the exact table that the file was made from; zeros in tables and pieces.
    pub source: [u8; 32],
    /// Data behind the directory: the network of a bound table.
    pub attached: E::Attached,
    /// The frames by seeds in the mover's row. In a table, entry 0 is for the frame with 1 seed.
    pub entries: Vec<E>,
}

/// The header as stored: the first bytes of a file.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct RawHeader {
    start: Start,
    rules: u8,
    pits: u8,
    seeds: u8,
    form: u8,
    positions: u64,
    file_bytes: u64,
    digest: [u8; 32],
    source: [u8; 32],
    attached_bytes: u32,
    reserved: [u32; 3],
    /// Checksum of all bytes from the header to the first frame; 0 in tables.
    prefix_checksum: u64,
    checksum: u64,
}

/// An entry of the directory as stored.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct RawEntry {
    offset: u64,
    figures: [u64; 4],
    digest: [u8; 32],
}

impl RawEntry {
    /// Makes an entry from where its frame begins, four figures, and the digest of the frame.
    pub fn of(offset: u64, figures: [u64; 4], digest: [u8; 32]) -> RawEntry {
        RawEntry { offset: offset.to_le(), figures: figures.map(u64::to_le), digest }
    }

    /// Returns where the frame begins, the four figures, and the digest of the frame.
    pub fn parts(&self) -> (u64, [u64; 4], [u8; 32]) {
        (u64::from_le(self.offset), self.figures.map(u64::from_le), self.digest)
    }
}

impl RawHeader {
    fn new(kind: Kind, key: TableKey, form: u8) -> RawHeader {
        RawHeader {
            start: Start::new(kind, VERSION),
            rules: key.rules.code(),
            pits: key.pits as u8,
            seeds: key.seeds as u8,
            form,
            positions: layer_positions(key.pits, key.seeds).to_le(),
            ..Zeroable::zeroed()
        }
    }

    /// Header of an unfinished table. It names the table and marks it as unfinished.
    pub fn unfinished(key: TableKey) -> RawHeader {
        sealed(RawHeader::new(Kind::Table, key, 0))
    }

    /// The header of a finished table.
    pub fn finished(key: TableKey, file_bytes: u64, digest: [u8; 32]) -> RawHeader {
        sealed(RawHeader { file_bytes: file_bytes.to_le(), digest, ..RawHeader::new(Kind::Table, key, FINISHED) })
    }

    /// Reads the header and key of a file of a layer, finished or not. The error is the fault of the header.
    pub fn read(bytes: &[u8], kind: Kind) -> Result<(RawHeader, TableKey), Damage> {
        let raw: RawHeader = header::read(bytes, kind, VERSION)?;
        let key = Rules::from_code(raw.rules).map(|rules| TableKey {
            rules,
            pits: usize::from(raw.pits),
            seeds: usize::from(raw.seeds),
        });
        Ok((raw, key.filter(|key| key.is_possible()).ok_or(HEADER_DAMAGED)?))
    }

    /// Digest of a file with this header and these bytes up to the first frame. That of a table leaves out the
    /// padding, and all that is not in its key.
    fn digest(&self, key: TableKey, prefix: &[u8]) -> [u8; 32] {
        if self.start == Start::new(Kind::Table, VERSION) {
            return table_digest(key, &prefix[HEADER_BYTES..][..(key.seeds - 1) * ENTRY_BYTES]);
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(&bytemuck::bytes_of(self)[..16]);
        hasher.update(&self.source);
        hasher.update(&prefix[HEADER_BYTES..]);
        *hasher.finalize().as_bytes()
    }
}

const HEADER_DAMAGED: Damage = Damage::Part { part: "header", offset: 0 };

/// Digest of a table: BLAKE3 of version, rules, pits, seeds and the bytes of the directory.
pub fn table_digest(key: TableKey, directory: &[u8]) -> [u8; 32] {
    // These twelve bytes stay if the version of the format changes: equal tables have equal digests for ever.
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"KALAHTB\n\x01\0\0\0");
    hasher.update(&[key.rules.code(), key.pits as u8, key.seeds as u8]);
    hasher.update(directory);
    *hasher.finalize().as_bytes()
}

/// Returns the first bytes of a finished file, up to its first frame: header, directory, what is attached.
///
/// `entries` are by seeds in the mover's row, one for each frame. `source` is the digest of the table that the file was
/// made from.
pub fn prefix<E: Entry>(
    kind: Kind,
    key: TableKey,
    form: u8,
    source: [u8; 32],
    attached: &[u8],
    entries: &[E],
) -> Vec<u8> {
    let frames = frames(kind, key, form).expect("a pair of the layer");
    assert_eq!(entries.len(), frames.len(), "an entry for each frame of {key}");
    let mut bytes = vec![0; prefix_bytes(entries.len(), attached.len())];
    let (directory, rest) = bytes[HEADER_BYTES..].split_at_mut(entries.len() * ENTRY_BYTES);
    for (stored, entry) in directory.chunks_exact_mut(ENTRY_BYTES).zip(entries) {
        stored.copy_from_slice(bytemuck::bytes_of(&entry.raw()));
    }
    rest[..attached.len()].copy_from_slice(attached);
    let mut header = RawHeader { source, ..RawHeader::new(kind, key, form) };
    let ends = entries.iter().zip(movers(&frames)).map(|(entry, mover)| entry.section_of(mover).end());
    header.file_bytes = ends.max().unwrap_or(0).to_le();
    header.digest = header.digest(key, &bytes);
    if kind != Kind::Table {
        header.attached_bytes = (attached.len() as u32).to_le();
        header.prefix_checksum = xxh3_64(&bytes[HEADER_BYTES..]).to_le();
    }
    bytes[..HEADER_BYTES].copy_from_slice(bytemuck::bytes_of(&sealed(header)));
    bytes
}

/// The seeds in the mover's rows of these frames, ascending: the order of the directory.
fn movers(frames: &[Frame]) -> Vec<usize> {
    let mut movers: Vec<usize> = frames.iter().map(|frame| frame.mover).collect();
    movers.sort_unstable();
    movers
}

impl<E: Entry> LayerHeader<E> {
    /// Maximum bytes before the first frame: enough for [`LayerHeader::read`].
    pub(super) fn most_prefix_bytes() -> usize {
        prefix_bytes(MAX_TABLE_SEEDS, E::attached_bytes(MAX_TABLE_PITS))
    }

    /// Bytes before the first frame of a file with `frames` frames of the layer `key`.
    pub fn prefix_bytes(key: TableKey, frames: usize) -> usize {
        prefix_bytes(frames, E::attached_bytes(key.pits))
    }

    /// Reads and checks header and directory of a finished file: see [`LayerHeader::read_as`].
    pub fn read(prefix: &[u8], found_bytes: u64) -> Result<LayerHeader<E>, Damage> {
        LayerHeader::read_as(E::KIND, prefix, found_bytes)
    }

    /// Reads and checks header and directory of a finished file of this kind with `found_bytes` bytes: everything
    /// except the contents of frames. `prefix` holds at least all bytes before the first frame.
    pub fn read_as(kind: Kind, prefix: &[u8], found_bytes: u64) -> Result<LayerHeader<E>, Damage> {
        let (raw, key) = RawHeader::read(prefix, kind)?;
        if kind == Kind::Table && raw.form != FINISHED {
            return Err(Damage::Unfinished);
        }
        let positions = layer_positions(key.pits, key.seeds);
        let attached_bytes = E::attached_bytes(key.pits);
        let frames = frames(kind, key, raw.form).ok_or(HEADER_DAMAGED)?;
        if u64::from_le(raw.positions) != positions || u32::from_le(raw.attached_bytes) as usize != attached_bytes {
            return Err(HEADER_DAMAGED);
        }
        let file_bytes = u64::from_le(raw.file_bytes);
        if found_bytes != file_bytes {
            return Err(Damage::Length { found: found_bytes, expected: file_bytes });
        }
        let damaged = Damage::Part { part: "directory", offset: HEADER_BYTES as u64 };
        let prefix = prefix.get(..prefix_bytes(frames.len(), attached_bytes)).ok_or(damaged.clone())?;
        let (directory, rest) = prefix[HEADER_BYTES..].split_at(frames.len() * ENTRY_BYTES);
        let (attached, padding) = rest.split_at(attached_bytes);
        // Readers without BLAKE3 compare only the checksum, so both are checked here.
        let is_sound = kind == Kind::Table || xxh3_64(&prefix[HEADER_BYTES..]).to_le() == raw.prefix_checksum;
        if !is_sound || raw.digest(key, prefix) != raw.digest || padding.iter().any(|&byte| byte != 0) {
            return Err(damaged);
        }
        let movers = movers(&frames);
        let entry = |(raw_entry, &mover): (&[u8], &usize)| {
            let frame = Frame { pits: key.pits, mover, other: key.seeds - mover };
            E::read(&bytemuck::pod_read_unaligned(raw_entry), frame, raw.form, file_bytes)
        };
        let entries = directory.chunks_exact(ENTRY_BYTES).zip(&movers).map(entry).collect::<Option<Vec<E>>>();
        let entries = entries.ok_or(damaged.clone())?;
        let mut offset = prefix.len() as u64;
        for frame in frames {
            let place = movers.binary_search(&frame.mover).map_err(|_| damaged.clone())?;
            let section = entries[place].section_of(frame.mover);
            if section.offset != offset || section.end() > file_bytes {
                return Err(damaged);
            }
            offset = section.end();
        }
        if offset != file_bytes {
            return Err(damaged);
        }
        let RawHeader { form, digest, source, .. } = raw;
        let offset = (HEADER_BYTES + directory.len()) as u64;
        let attached = E::attached(key, attached).ok_or(Damage::Part { part: "evaluation network", offset })?;
        Ok(LayerHeader { key, form, positions, file_bytes, digest, source, attached, entries })
    }

    /// The sections of the frames, by seeds in the mover's row, from 1, in a file with all frames.
    pub(crate) fn sections(&self) -> Box<[Section]> {
        self.entries.iter().zip(1..).map(|(entry, mover)| entry.section_of(mover)).collect()
    }

    /// Bits of the file per position.
    pub fn bits_per_position(&self) -> f64 {
        self.file_bytes as f64 * 8.0 / self.positions as f64
    }
}

impl TableKey {
    /// Bytes before the first frame of a table: header and directory.
    pub fn prefix_bytes(self) -> u64 {
        prefix_bytes(self.seeds - 1, 0) as u64
    }
}
