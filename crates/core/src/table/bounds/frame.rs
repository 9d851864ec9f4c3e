use std::fmt;

use super::cuts::Cuts;
use crate::game::Bounds;
use crate::index::Frame;
use crate::memory::prefetch;

/// The codes of a frame: for each position, the number of cuts that its score reaches.
///
/// The bytes may be damaged if they have not been compared with their checksums
/// ([`super::BoundTable::frame_unchecked`]). Nothing here panics then, but bounds may be wrong.
#[derive(Clone, Copy)]
pub struct FrameBounds<'a> {
    codes: &'a [u8],
    /// Number of mover's rows.
    rows: u64,
    cuts: Cuts,
    frame: Frame,
}

impl<'a> FrameBounds<'a> {
    /// Wraps the codes in `data`, the data of the section of `frame`.
    pub(super) fn new(frame: Frame, cuts: Cuts, data: &'a [u8]) -> FrameBounds<'a> {
        FrameBounds { codes: data, rows: frame.mover_rows() as u64, cuts, frame }
    }

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

    /// Offset in the section of the byte that holds the code of a position.
    #[inline]
    pub(super) fn byte(&self, mover_rank: u32, other_rank: u32) -> usize {
        self.place(mover_rank, other_rank).0
    }

    /// Code of the position with these ranks of rows (see [`Frame::index`]).
    ///
    /// # Panics
    /// When the frame has no such ranks, and they lie beyond its last line of 64 bytes.
    #[inline]
    pub fn code(&self, mover_rank: u32, other_rank: u32) -> u8 {
        let (byte, shift) = self.place(mover_rank, other_rank);
        self.codes[byte] >> shift & ((1 << self.cuts.bits()) - 1)
    }

    /// Prefetches the byte that [`FrameBounds::code`] reads for these ranks.
    #[inline]
    pub fn prefetch(&self, mover_rank: u32, other_rank: u32) {
        prefetch(self.codes.as_ptr().wrapping_add(self.byte(mover_rank, other_rank)));
    }

    /// Bounds of the score of a position with this code and evaluation, in sixteenths of a seed. The
    /// evaluation comes from the table's network. See [`Cuts::bounds`].
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
