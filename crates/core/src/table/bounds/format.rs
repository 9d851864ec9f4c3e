//! The directory of a bound table, which has the form of all files of a layer (docs/bounds.md in the repository).

use super::cuts::{Cuts, MAX_CUTS};
use crate::evaluation::Network;
use crate::header::Kind;
use crate::index::Frame;
use crate::table::directory::{self, ENTRY_BYTES, Entry, HEADER_BYTES, LayerHeader, RawEntry};
use crate::table::key::TableKey;
use crate::table::section::Section;

/// Bytes of a line of codes: a cache line.
pub const LINE_BYTES: usize = 64;

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
}

impl Entry for BoundEntry {
    const KIND: Kind = Kind::BoundTable;

    /// The network that evaluates the positions.
    type Attached = Network;

    fn attached_bytes(pits: usize) -> usize {
        Network::file_bytes(pits)
    }

    fn attached(key: TableKey, bytes: &[u8]) -> Option<Network> {
        let network = Network::from_bytes(bytes).ok();
        network.filter(|network| (network.rules(), network.pits()) == (key.rules, key.pits))
    }

    fn read(raw: &RawEntry, frame: Frame, form: u8, file_bytes: u64) -> Option<BoundEntry> {
        let (offset, [cuts, counts @ ..], digest) = raw.parts();
        let bits = u32::from(form);
        let used = [1, 2].contains(&bits).then_some((1 << bits) - 1)?;
        let [cuts @ .., unused] = [0, 16, 32, 48].map(|shift| (cuts >> shift) as i16);
        // The positions that remain have the last code.
        let counted = counts.iter().try_fold(0u64, |sum, &count| sum.checked_add(count))?;
        let [low, middle, high] = counts;
        let rest = frame.positions().checked_sub(counted)?;
        let counts = if bits == 1 { [low, rest, 0, 0] } else { [low, middle, high, rest] };
        let is_sound = unused == 0 && cuts[used..] == [0; MAX_CUTS][used..] && (bits == 2 || (middle, high) == (0, 0));
        let cuts = Cuts::new(&cuts[..used]).filter(|_| is_sound && offset <= file_bytes)?;
        Some(BoundEntry { offset, lines: BoundEntry::lines_of(frame, bits), cuts, counts, digest })
    }

    fn raw(&self) -> RawEntry {
        let cuts = self.cuts.sixteenths().iter().rev().fold(0, |cuts, &cut| cuts << 16 | u64::from(cut as u16));
        let [low, middle, high, _] = self.counts;
        let counts = if self.cuts.bits() == 1 { [low, 0, 0] } else { [low, middle, high] };
        RawEntry::of(self.offset, [cuts, counts[0], counts[1], counts[2]], self.digest)
    }

    fn section_of(&self, mover: usize) -> Section {
        let data = self.lines * LINE_BYTES as u64;
        Section { offset: self.offset, data, head: 0, tag: mover as u64, digest: self.digest }
    }
}

/// The header and directory of a bound table.
pub type BoundHeader = LayerHeader<BoundEntry>;

/// Bytes of a bound table with codes of `bits` bits. They do not depend on scores.
pub fn file_bytes(key: TableKey, bits: u32) -> u64 {
    let frame_bytes = |frame| {
        let data = BoundEntry::lines_of(frame, bits) * LINE_BYTES as u64;
        Section { offset: 0, data, head: 0, tag: 0, digest: [0; 32] }.bytes()
    };
    BoundHeader::prefix_bytes(key, key.seeds - 1) as u64 + key.frames().map(frame_bytes).sum::<u64>()
}

/// Returns the first bytes of a bound table, up to its first frame: header, directory, network.
///
/// `exact` is the digest of the exact table. The entries are by seeds in the mover's row, one for each frame, and all
/// have the same number of cuts.
pub fn prefix(key: TableKey, exact: [u8; 32], network: &Network, entries: &[BoundEntry]) -> Vec<u8> {
    let bits = entries[0].cuts.bits() as u8;
    directory::prefix(Kind::BoundTable, key, bits, exact, &network.to_bytes(), entries)
}

impl BoundHeader {
    /// Bits of a code: 1 or 2.
    pub fn bits(&self) -> u32 {
        self.form.into()
    }

    /// Offset of the entry of the frame with `mover` seeds in the mover's row.
    pub fn entry_at(&self, mover: usize) -> u64 {
        (HEADER_BYTES + (mover - 1) * ENTRY_BYTES) as u64
    }

    /// Number of positions with each code.
    pub fn counts(&self) -> [u64; MAX_CUTS + 1] {
        std::array::from_fn(|code| self.entries.iter().map(|entry| entry.counts[code]).sum())
    }
}
