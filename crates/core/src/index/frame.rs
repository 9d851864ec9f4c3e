use super::row_count;

/// A frame: all positions in which the mover's row holds `mover` seeds and the other row `other`.
///
/// The index of a position is (rank of the other row) x (mover's rows) + (rank of the mover's row).
/// Positions that differ only in the mover's row are therefore adjacent: they form a *run*.
///
/// Builders play each move of one mover's row against all other rows. If the move ends the turn, the
/// mover's row after it is the other row of every child. So the children in one frame lie in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Pits a side.
    pub pits: usize,
    /// Seeds in the mover's row, at least 1.
    pub mover: usize,
    /// Seeds in the other row, at least 1.
    pub other: usize,
}

impl Frame {
    /// Number of positions in the frame.
    pub fn positions(self) -> u64 {
        self.mover_rows() as u64 * row_count(self.pits, self.other) as u64
    }

    /// Number of mover's rows, which is the length of one run.
    pub fn mover_rows(self) -> usize {
        row_count(self.pits, self.mover)
    }

    /// Index of a position from the ranks of its rows.
    #[inline]
    pub fn index(self, mover_rank: u32, other_rank: u32) -> u64 {
        u64::from(other_rank) * self.mover_rows() as u64 + u64::from(mover_rank)
    }

    /// Ranks (mover's row, other row) of the position with this index.
    #[inline]
    pub fn ranks(self, index: u64) -> (u32, u32) {
        let rows = self.mover_rows() as u64;
        ((index % rows) as u32, (index / rows) as u32)
    }

    /// The frame with the rows exchanged, in which quiet moves from this one end.
    pub fn mirrored(self) -> Frame {
        Frame { pits: self.pits, mover: self.other, other: self.mover }
    }
}
