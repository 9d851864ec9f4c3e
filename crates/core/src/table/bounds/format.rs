//! The directory of a bound table, which has the form of all files of a layer (docs/bounds.md in the repository).

use crate::evaluation::{Network, SEED};
use crate::game::Bounds;
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

/// Maximum number of cuts.
pub const MAX_CUTS: usize = 3;

/// Distances from the evaluation of a position at which scores are divided into intervals.
///
/// With an evaluation e, the *threshold* of a cut c is the least whole number of seeds that is at least e + c. The
/// *code* of a score is the number of thresholds that it reaches: 1 bit with one cut, 2 bits with three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cuts {
    /// In sixteenths of a seed, ascending. Only the first `count` are used; the others are 0.
    cuts: [i16; MAX_CUTS],
    count: u8,
}

impl Cuts {
    /// Cut for codes of 1 bit: the evaluation.
    pub const ONE_BIT: Cuts = Cuts { cuts: [0; MAX_CUTS], count: 1 };

    /// Cuts for codes of 2 bits: four seeds below the evaluation, the evaluation, four seeds above. Closer cuts leave
    /// more positions of a search undecided (docs/measurements.md in the repository).
    pub const TWO_BITS: Cuts = Cuts { cuts: [-4 * SEED as i16, 0, 4 * SEED as i16], count: MAX_CUTS as u8 };

    /// Cuts for codes of `bits` bits, [`Cuts::ONE_BIT`] or [`Cuts::TWO_BITS`]; otherwise `None`.
    pub const fn with_bits(bits: u32) -> Option<Cuts> {
        match bits {
            1 => Some(Cuts::ONE_BIT),
            2 => Some(Cuts::TWO_BITS),
            _ => None,
        }
    }

    /// Makes one or three cuts, in sixteenths of a seed relative to the evaluation, ascending or equal; or `None`.
    pub fn new(cuts: &[i16]) -> Option<Cuts> {
        if ![1, MAX_CUTS].contains(&cuts.len()) || !cuts.is_sorted() {
            return None;
        }
        let mut own = [0; MAX_CUTS];
        own[..cuts.len()].copy_from_slice(cuts);
        Some(Cuts { cuts: own, count: cuts.len() as u8 })
    }

    /// The cuts, in sixteenths of a seed, ascending.
    pub fn sixteenths(&self) -> &[i16] {
        &self.cuts[..usize::from(self.count)]
    }

    /// Bits of a code: 1 or 2.
    #[inline]
    pub fn bits(&self) -> u32 {
        if usize::from(self.count) == MAX_CUTS { 2 } else { 1 }
    }

    /// Least score that reaches cut `cut` (from 0) of a position with this evaluation, in sixteenths of a seed.
    #[inline]
    fn threshold(&self, cut: usize, evaluation: i32) -> i32 {
        evaluation.saturating_add(i32::from(self.cuts[cut])).saturating_add(SEED - 1).div_euclid(SEED)
    }

    /// Code of a score: the number of cuts that it reaches.
    #[inline]
    pub fn code(&self, evaluation: i32, score: u32) -> u8 {
        (0..usize::from(self.count)).map(|cut| u8::from(score as i32 >= self.threshold(cut, evaluation))).sum()
    }

    /// Bounds, from 0 to `seeds`, of the score of a position with this code and evaluation. If no such score has this
    /// code, by damage or another evaluation, the lower bound is above the upper one, or both are 0 or `seeds`.
    #[inline]
    pub fn bounds(&self, code: u8, evaluation: i32, seeds: u32) -> Bounds {
        let clamped = |score: i32| score.clamp(0, seeds as i32) as u32;
        let code = usize::from(code).min(usize::from(self.count));
        let lower = if code == 0 { 0 } else { clamped(self.threshold(code - 1, evaluation)) };
        let upper = if code == usize::from(self.count) {
            seeds
        } else {
            clamped(self.threshold(code, evaluation).saturating_sub(1))
        };
        Bounds { lower, upper }
    }
}
