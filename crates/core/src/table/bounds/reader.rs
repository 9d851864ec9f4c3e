use std::fmt;

use super::cuts::Cuts;
use super::format::{BoundEntry, LINE_BYTES};
use crate::cancel::Cancel;
use crate::evaluation::Network;
use crate::game::Bounds;
use crate::index::Frame;
use crate::memory::prefetch;
use crate::table::error::TableError;
use crate::table::format::BLOCK_BYTES;
use crate::table::reader::LayerFile;

/// A bound table. [`BoundTable::code`] compares the block that it reads.
pub type BoundTable = LayerFile<BoundEntry>;

impl BoundTable {
    /// Returns the codes of a copy in memory of the frame with `mover` seeds in the mover's row. Errors are those of
    /// `Blocks::copied_section`.
    pub fn copied_frame(&self, mover: usize, cancel: &Cancel) -> Result<FrameBounds<'_>, TableError> {
        Ok(self.frame_in(mover, self.blocks().copied_section(mover, cancel)?))
    }

    /// Offset in the file of the byte with the code of the position with these ranks of rows.
    pub fn code_at(&self, mover: usize, mover_rank: u32, other_rank: u32) -> u64 {
        self.entry(mover).0.offset + self.frame_in(mover, &[]).place(mover_rank, other_rank).0 as u64
    }

    /// The network that evaluates its positions.
    #[inline]
    pub fn network(&self) -> &Network {
        &self.header().attached
    }

    /// The codes of the frame with `mover` seeds in the mover's row. No checksums are compared. Panics when the file is
    /// not [in memory](crate::table::Blocks::is_resident).
    #[inline]
    pub fn frame_unchecked(&self, mover: usize) -> FrameBounds<'_> {
        let (entry, _) = self.entry(mover);
        self.frame_in(mover, &self.blocks().bytes()[entry.offset as usize..][..entry.lines as usize * LINE_BYTES])
    }

    #[inline]
    fn frame_in<'a>(&self, mover: usize, codes: &'a [u8]) -> FrameBounds<'a> {
        let (entry, frame) = self.entry(mover);
        FrameBounds { codes, rows: frame.mover_rows() as u64, cuts: entry.cuts, frame }
    }

    /// Code of the position with these ranks of rows and `mover` seeds in the mover's row. The first read of a block
    /// compares it with its checksum; damage is an error.
    #[inline]
    pub fn code(&self, mover: usize, mover_rank: u32, other_rank: u32) -> Result<u8, TableError> {
        let (frame, start) = (self.frame_in(mover, &[]), self.entry(mover).0.offset as usize);
        assert!(u64::from(mover_rank) < frame.rows, "no such ranks");
        let (at, shift) = frame.place(mover_rank, other_rank);
        let byte = match self.blocks().resident() {
            Some(bytes) => {
                self.blocks().touch(mover, (at / BLOCK_BYTES) as u64)?;
                bytes[start + at]
            }
            None => self.blocks().part(mover, at as u64..at as u64 + 1)?[0],
        };
        Ok(frame.code_in(byte, shift))
    }

    /// Bounds of the score of a position with this code and evaluation: see [`FrameBounds::bounds`].
    #[inline]
    pub fn bounds_of(&self, mover: usize, code: u8, evaluation: i32) -> Bounds {
        self.frame_in(mover, &[]).bounds(code, evaluation)
    }

    /// The error for a code that contradicts the position.
    pub fn damaged_code(&self, mover: usize, mover_rank: u32, other_rank: u32) -> TableError {
        self.blocks().damaged_part("score of a position", self.code_at(mover, mover_rank, other_rank))
    }
}

/// The codes of a frame: for each position, the number of cuts that its score reaches. Bytes that were not compared
/// with their checksums may be damaged. Nothing here panics then, but bounds may be wrong.
#[derive(Clone, Copy)]
pub struct FrameBounds<'a> {
    codes: &'a [u8],
    /// Number of mover's rows.
    rows: u64,
    cuts: Cuts,
    frame: Frame,
}

impl<'a> FrameBounds<'a> {
    /// The frame.
    pub fn frame(&self) -> Frame {
        self.frame
    }

    /// The cuts.
    pub fn cuts(&self) -> Cuts {
        self.cuts
    }

    /// The lines of codes, 64 bytes each.
    pub fn lines(&self) -> &'a [u8] {
        self.codes
    }

    /// Byte that holds the code of a position, and the shift of the code within it.
    #[inline]
    fn place(&self, mover_rank: u32, other_rank: u32) -> (usize, u32) {
        let index = u64::from(other_rank) * self.rows + u64::from(mover_rank);
        let bit = index * u64::from(self.cuts.bits());
        ((bit / 8) as usize, (bit % 8) as u32)
    }

    /// The code in this byte.
    #[inline]
    fn code_in(&self, byte: u8, shift: u32) -> u8 {
        byte >> shift & ((1 << self.cuts.bits()) - 1)
    }

    /// Code of the position with these ranks of rows: see [`Frame::index`]. Panics for ranks beyond the last line.
    #[inline]
    pub fn code(&self, mover_rank: u32, other_rank: u32) -> u8 {
        let (byte, shift) = self.place(mover_rank, other_rank);
        self.code_in(self.codes[byte], shift)
    }

    /// Prefetches the byte that [`FrameBounds::code`] reads for these ranks.
    #[inline]
    pub fn prefetch(&self, mover_rank: u32, other_rank: u32) {
        prefetch(self.codes.as_ptr().wrapping_add(self.place(mover_rank, other_rank).0));
    }

    /// Bounds of the score of a position with this code and evaluation by the table's network: see [`Cuts::bounds`].
    #[inline]
    pub fn bounds(&self, code: u8, evaluation: i32) -> Bounds {
        self.cuts.bounds(code, evaluation, (self.frame.mover + self.frame.other) as u32)
    }
}

impl fmt::Debug for FrameBounds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameBounds").field("frame", &self.frame).field("cuts", &self.cuts).finish_non_exhaustive()
    }
}
