//! The bytes of a bound table: header, network, directory (docs/bounds.md in the repository).

use bytemuck::{Pod, Zeroable};
use xxhash_rust::xxh3::xxh3_64;

use super::cuts::{Cuts, MAX_CUTS};
use crate::evaluation::Network;
use crate::game::Rules;
use crate::header::sealed;
use crate::index::{Frame, layer_positions};
use crate::table::error::{Damage, TablePart};
use crate::table::format::{ALIGNMENT, read_header};
use crate::table::key::TableKey;
use crate::table::section::Section;

/// The first bytes of every bound table.
pub const MAGIC: [u8; 8] = *b"KALAHBD\n";

/// The version of the format.
pub const VERSION: u32 = 1;

/// Bytes of a line of codes: a cache line.
pub const LINE_BYTES: usize = 64;

/// Bytes of the header.
pub const HEADER_BYTES: usize = std::mem::size_of::<RawHeader>();

/// Bytes of a frame's entry in the directory. The first entry is for the frame with 1 seed in the
/// mover's row.
pub const ENTRY_BYTES: usize = std::mem::size_of::<RawEntry>();

/// A frame's entry in the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundEntry {
    /// Where the frame begins, in bytes from the start of the file.
    pub offset: u64,
    /// Lines of codes, 64 bytes each.
    pub lines: u64,
    /// The cuts of the frame.
    pub cuts: Cuts,
    /// Number of positions with each code.
    pub counts: [u64; MAX_CUTS + 1],
    /// BLAKE3 of lines and checksums.
    pub digest: [u8; 32],
}

impl BoundEntry {
    /// Lines that the codes of `frame` need, at `bits` bits each.
    pub fn lines_of(frame: Frame, bits: u32) -> u64 {
        frame.positions().div_ceil(8 * LINE_BYTES as u64 / u64::from(bits))
    }

    /// Section of the frame with `mover` seeds in the mover's row in the file.
    pub fn section(&self, mover: usize) -> Section {
        let data = self.lines * LINE_BYTES as u64;
        Section { offset: self.offset, data, head: 0, tag: mover as u64, digest: self.digest }
    }

    /// Returns true if this can be the entry of `frame` at `offset`.
    fn fits(&self, frame: Frame, bits: u32, offset: u64) -> bool {
        let counted = self.counts.iter().try_fold(0u64, |sum, &count| sum.checked_add(count));
        self.offset == offset
            && self.lines == BoundEntry::lines_of(frame, bits)
            && counted == Some(frame.positions())
            && self.counts[1 << bits..].iter().all(|&count| count == 0)
    }
}

/// The header and directory of a bound table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BoundHeader {
    /// The layer.
    pub key: TableKey,
    /// Bits of a code: 1 or 2.
    pub bits: u32,
    /// Positions.
    pub positions: u64,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// BLAKE3 of the key, the bits, the digest of the exact table, the network and the directory,
    /// which holds the digests of all frames. Equal for equal bound tables.
    pub digest: [u8; 32],
    /// Digest of the exact table from which the bound table was made.
    pub exact: [u8; 32],
    /// The frames by seeds in the mover's row: entry 0 is for the frame with 1 seed.
    pub entries: Vec<BoundEntry>,
}

/// The header as stored: the first bytes of a file.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct RawHeader {
    magic: [u8; 8],
    version: u32,
    rules: u8,
    pits: u8,
    seeds: u8,
    bits: u8,
    positions: u64,
    file_bytes: u64,
    digest: [u8; 32],
    exact: [u8; 32],
    network_bytes: u32,
    reserved: [u32; 3],
    /// Checksum of network and directory.
    prefix_checksum: u64,
    checksum: u64,
}

/// A [`BoundEntry`] as stored in a file.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct RawEntry {
    offset: u64,
    lines: u64,
    cuts: [i16; MAX_CUTS],
    reserved: u16,
    counts: [u64; MAX_CUTS + 1],
    digest: [u8; 32],
}

/// Offset of the directory after a network of `network_bytes` bytes.
fn directory_at(network_bytes: usize) -> usize {
    (HEADER_BYTES + network_bytes).next_multiple_of(ALIGNMENT as usize)
}

/// Bytes before the first frame (header, network, directory) in a bound table with `seeds` seeds
/// and a network of `network_bytes` bytes.
fn prefix_bytes(seeds: usize, network_bytes: usize) -> usize {
    (directory_at(network_bytes) + (seeds - 1) * ENTRY_BYTES).next_multiple_of(ALIGNMENT as usize)
}

/// Returns the offsets of the frames, by seeds in the mover's row from 1, and the size of the file.
/// Codes have `bits` bits, the network `network_bytes` bytes.
///
/// The layout does not depend on scores, so frames can be written in any order.
pub fn layout(key: TableKey, bits: u32, network_bytes: usize) -> (Vec<u64>, u64) {
    let mut offsets = vec![0; key.seeds - 1];
    let mut offset = prefix_bytes(key.seeds, network_bytes) as u64;
    for frame in key.frames() {
        offsets[frame.mover - 1] = offset;
        let data = BoundEntry::lines_of(frame, bits) * LINE_BYTES as u64;
        offset = Section { offset, data, head: 0, tag: 0, digest: [0; 32] }.end();
    }
    (offsets, offset)
}

impl RawEntry {
    fn new(entry: &BoundEntry) -> RawEntry {
        let mut cuts = [0; MAX_CUTS];
        for (stored, cut) in cuts.iter_mut().zip(entry.cuts.sixteenths()) {
            *stored = cut.to_le();
        }
        RawEntry {
            offset: entry.offset.to_le(),
            lines: entry.lines.to_le(),
            cuts,
            reserved: 0,
            counts: entry.counts.map(u64::to_le),
            digest: entry.digest,
        }
    }

    /// Returns the entry; `None` if it has no cuts for codes of `bits` bits.
    fn entry(&self, bits: u32) -> Option<BoundEntry> {
        let cuts = self.cuts.map(i16::from_le);
        let (used, unused) = cuts.split_at((1 << bits) - 1);
        Some(BoundEntry {
            offset: u64::from_le(self.offset),
            lines: u64::from_le(self.lines),
            cuts: Cuts::new(used).filter(|_| unused.iter().all(|&cut| cut == 0) && self.reserved == 0)?,
            counts: self.counts.map(u64::from_le),
            digest: self.digest,
        })
    }
}

/// Digest of a bound table: BLAKE3 of version, key, bits, the digest of the exact table, and the
/// bytes from the network to the end of the directory.
fn bounds_digest(key: TableKey, bits: u32, exact: &[u8; 32], network_and_directory: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&MAGIC);
    hasher.update(&VERSION.to_le_bytes());
    hasher.update(&[key.rules.code(), key.pits as u8, key.seeds as u8, bits as u8]);
    hasher.update(exact);
    hasher.update(network_and_directory);
    *hasher.finalize().as_bytes()
}

impl RawHeader {
    fn read(bytes: &[u8]) -> Result<(RawHeader, TableKey), Damage> {
        let raw: RawHeader = read_header(bytes, &MAGIC, VERSION, "bound table")?;
        let key = (|| {
            let rules = Rules::from_code(raw.rules)?;
            let key = TableKey { rules, pits: usize::from(raw.pits), seeds: usize::from(raw.seeds) };
            let network =
                key.is_possible() && u32::from_le(raw.network_bytes) as usize == Network::file_bytes(key.pits);
            (network && [1, 2].contains(&raw.bits) && raw.reserved == [0; 3]).then_some(key)
        })()
        .ok_or(Damage::Part { part: TablePart::Header, offset: 0 })?;
        Ok((raw, key))
    }
}

/// Returns the first bytes of a bound table, up to its first frame: header, network, directory.
///
/// `exact` is the digest of the exact table. The entries are by seeds in the mover's row, placed by
/// [`layout`], and all have the same number of cuts.
///
/// # Panics
/// When there is not one entry for each frame.
pub fn prefix(key: TableKey, exact: [u8; 32], network: &Network, entries: &[BoundEntry]) -> Vec<u8> {
    assert_eq!(entries.len(), key.seeds - 1, "an entry for each frame");
    let (network, bits) = (network.to_bytes(), entries[0].cuts.bits());
    let mut bytes = vec![0; prefix_bytes(key.seeds, network.len())];
    bytes[HEADER_BYTES..][..network.len()].copy_from_slice(&network);
    let directory = directory_at(network.len());
    for (stored, entry) in bytes[directory..].chunks_exact_mut(ENTRY_BYTES).zip(entries) {
        stored.copy_from_slice(bytemuck::bytes_of(&RawEntry::new(entry)));
    }
    let header = RawHeader {
        magic: MAGIC,
        version: VERSION.to_le(),
        rules: key.rules.code(),
        pits: key.pits as u8,
        seeds: key.seeds as u8,
        bits: bits as u8,
        positions: layer_positions(key.pits, key.seeds).to_le(),
        file_bytes: layout(key, bits, network.len()).1.to_le(),
        digest: bounds_digest(key, bits, &exact, &bytes[HEADER_BYTES..]),
        exact,
        network_bytes: (network.len() as u32).to_le(),
        prefix_checksum: xxh3_64(&bytes[HEADER_BYTES..]).to_le(),
        ..Zeroable::zeroed()
    };
    bytes[..HEADER_BYTES].copy_from_slice(bytemuck::bytes_of(&sealed(header)));
    bytes
}

impl BoundHeader {
    /// Reads and checks header, network and directory of a file of `found_bytes` bytes. `prefix`
    /// holds at least all bytes before the first frame.
    ///
    /// Checks everything except the contents of frames: their sizes against the key, the digest
    /// against network and directory, and the length of the file.
    ///
    /// # Errors
    /// The fault of the file.
    pub fn read(prefix: &[u8], found_bytes: u64) -> Result<(BoundHeader, Network), Damage> {
        let (raw, key) = RawHeader::read(prefix)?;
        let (bits, network_bytes) = (u32::from(raw.bits), u32::from_le(raw.network_bytes) as usize);
        let positions = layer_positions(key.pits, key.seeds);
        let (_, file_bytes) = layout(key, bits, network_bytes);
        if u64::from_le(raw.positions) != positions || u64::from_le(raw.file_bytes) != file_bytes {
            return Err(Damage::Part { part: TablePart::Header, offset: 0 });
        }
        if found_bytes != file_bytes {
            return Err(Damage::Length { found: found_bytes, expected: file_bytes });
        }
        let at = directory_at(network_bytes);
        let damaged = Damage::Part { part: TablePart::Directory, offset: at as u64 };
        let prefix = prefix.get(..prefix_bytes(key.seeds, network_bytes)).ok_or(damaged.clone())?;
        // Readers without BLAKE3 compare only the checksum, so both are checked here.
        if xxh3_64(&prefix[HEADER_BYTES..]).to_le() != raw.prefix_checksum
            || bounds_digest(key, bits, &raw.exact, &prefix[HEADER_BYTES..]) != raw.digest
        {
            return Err(damaged);
        }
        let network = Network::from_bytes(&prefix[HEADER_BYTES..][..network_bytes]).ok();
        let network = network.filter(|network| (network.rules(), network.pits()) == (key.rules, key.pits));
        let network = network.ok_or(Damage::Part { part: TablePart::Network, offset: HEADER_BYTES as u64 })?;
        let mut entries = Vec::with_capacity(key.seeds - 1);
        for raw in prefix[at..].chunks_exact(ENTRY_BYTES).take(key.seeds - 1) {
            entries.push(bytemuck::pod_read_unaligned::<RawEntry>(raw).entry(bits).ok_or(damaged.clone())?);
        }
        let (offsets, _) = layout(key, bits, network_bytes);
        for frame in key.frames() {
            if !entries[frame.mover - 1].fits(frame, bits, offsets[frame.mover - 1]) {
                return Err(damaged);
            }
        }
        let (digest, exact) = (raw.digest, raw.exact);
        Ok((BoundHeader { key, bits, positions, file_bytes, digest, exact, entries }, network))
    }

    /// Offset of the entry of the frame with `mover` seeds in the mover's row.
    pub fn entry_at(&self, mover: usize) -> u64 {
        (directory_at(Network::file_bytes(self.key.pits)) + (mover - 1) * ENTRY_BYTES) as u64
    }

    /// Number of positions with each code.
    pub fn counts(&self) -> [u64; MAX_CUTS + 1] {
        std::array::from_fn(|code| self.entries.iter().map(|entry| entry.counts[code]).sum())
    }
}
