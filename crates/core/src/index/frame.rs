/// A frame: all positions in which the mover's row holds `mover` seeds and the other row `other`.
///
/// The index of a position is (rank of the other row) x (mover's rows) + (rank of the mover's row). Positions that
/// differ only in the mover's row are adjacent: they form a *run*. If a move of one mover's row ends the turn, its row
/// after it is the other row of every child, against all other rows. So the children in one frame lie in one run.
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

/// Maximum pits a side of a table.
pub const MAX_TABLE_PITS: usize = 8;

/// Maximum seeds in play of a table.
pub const MAX_TABLE_SEEDS: usize = 48;

/// The binomial coefficient C(n, k), for results below 2^64.
fn binomial(n: u64, k: u64) -> u64 {
    // A product of i consecutive numbers is divisible by i!, so every division is exact.
    (1..=k).fold(1u128, |product, i| product * u128::from(n - k + i) / u128::from(i)) as u64
}

/// Number of rows with `pits` pits and exactly `seeds` seeds: C(seeds + pits - 1, pits - 1), below 2^28. It is 0 for
/// pits beyond [`MAX_TABLE_PITS`] or seeds beyond [`MAX_TABLE_SEEDS`], since tables have no such rows.
pub fn row_count(pits: usize, seeds: usize) -> usize {
    if !(1..=MAX_TABLE_PITS).contains(&pits) || seeds > MAX_TABLE_SEEDS {
        return 0;
    }
    binomial((seeds + pits - 1) as u64, pits as u64 - 1) as usize
}

/// Number of positions in a layer: `seeds` in play, both rows non-empty. C(N+2m-1, 2m-1) - 2
/// C(N+m-1, m-1); 0 for layers that tables cannot have.
pub fn layer_positions(pits: usize, seeds: usize) -> u64 {
    if seeds > MAX_TABLE_SEEDS {
        return 0;
    }
    (1..seeds).map(|mover| row_count(pits, mover) as u64 * row_count(pits, seeds - mover) as u64).sum()
}

/// All frames of the layer of `seeds` seeds, in rank order: by the seeds in the mover's row.
pub fn layer_frames(pits: usize, seeds: usize) -> impl Iterator<Item = Frame> {
    (1..seeds).map(move |mover| Frame { pits, mover, other: seeds - mover })
}
