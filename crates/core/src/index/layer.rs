use super::{Frame, RowIndex, TableRow, row_seeds};

/// Ranks the positions of a layer: `seeds` seeds in play, both rows non-empty.
///
/// The frames follow each other without gaps, from 1 seed in the mover's row to `seeds - 1`.
#[derive(Debug)]
pub struct LayerIndex<'a> {
    rows: &'a RowIndex,
    seeds: usize,
    /// `starts[k]`: number of positions in the frames with fewer than `k` seeds in the mover's row.
    starts: Vec<u64>,
}

impl<'a> LayerIndex<'a> {
    /// Makes the layer with `seeds` seeds: at least 2, and at most one more than `rows` can rank.
    pub fn new(rows: &'a RowIndex, seeds: usize) -> LayerIndex<'a> {
        let mut starts = vec![0, 0];
        for frame in layer_frames(rows.pits(), seeds) {
            starts.push(starts[frame.mover] + frame.positions());
        }
        LayerIndex { rows, seeds, starts }
    }

    /// Number of positions in the layer.
    pub fn positions(&self) -> u64 {
        self.starts[self.seeds]
    }

    /// Rank of a position of the layer.
    pub fn rank(&self, mover: &TableRow, other: &TableRow) -> u64 {
        let seeds = row_seeds(mover);
        let frame = Frame { pits: self.rows.pits(), mover: seeds, other: self.seeds - seeds };
        self.starts[seeds] + frame.index(self.rows.rank(mover), self.rows.rank(other))
    }

    /// Rows (mover's, other) of the position with this rank.
    ///
    /// # Panics
    /// When `rank` is not below [`LayerIndex::positions`].
    pub fn unrank(&self, rank: u64) -> (TableRow, TableRow) {
        assert!(rank < self.positions(), "rank {rank} of a layer of {}", self.positions());
        let mover = self.starts.partition_point(|&start| start <= rank) - 1;
        let frame = Frame { pits: self.rows.pits(), mover, other: self.seeds - mover };
        let (mover_rank, other_rank) = frame.ranks(rank - self.starts[mover]);
        (self.rows.unrank(frame.mover, mover_rank), self.rows.unrank(frame.other, other_rank))
    }
}

/// All frames of the layer of `seeds` seeds, in rank order: by the seeds in the mover's row.
pub fn layer_frames(pits: usize, seeds: usize) -> impl Iterator<Item = Frame> {
    (1..seeds).map(move |mover| Frame { pits, mover, other: seeds - mover })
}
