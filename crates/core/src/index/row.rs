use std::fmt;

use super::frame::{Frame, MAX_TABLE_PITS, MAX_TABLE_SEEDS, layer_frames};
use crate::game::Row;

/// Seeds in each pit of a row of a table position, in sowing order. Pits beyond the board hold none.
pub type TableRow = [u8; MAX_TABLE_PITS];

/// Seeds in a row.
#[inline]
pub fn row_seeds(row: &TableRow) -> usize {
    row.iter().map(|&seeds| usize::from(seeds)).sum()
}

/// Converts a row for tables; `None` with more than [`MAX_TABLE_PITS`] pits, or more than 255 seeds in a pit.
pub fn table_row(row: &Row) -> Option<TableRow> {
    let mut seeds = TableRow::default();
    if row.pits() > seeds.len() {
        return None;
    }
    for (place, &pit) in seeds.iter_mut().zip(row.seeds()) {
        *place = u8::try_from(pit).ok()?;
    }
    Some(seeds)
}

/// Converts the first `pits` pits of a table row. `None` if `pits` is not 1 to [`MAX_TABLE_PITS`].
pub fn game_row(pits: usize, row: &TableRow) -> Option<Row> {
    Row::new(row.map(u32::from).get(..pits)?)
}

/// Ranks the rows with a given number of seeds. The rows of `m` pits with `k` seeds have ranks 0 to C(k+m-1, m-1) - 1.
///
/// The *potential* of a row is the sum over its pits of seeds x distance to the last pit: the last pit weighs 0, the
/// first `m - 1`. Rows are ordered by potential, then lexicographically, first pit first.
///
/// A quiet move (one that keeps all its seeds in the row) lowers the potential, so the row after it has a lower rank.
/// Rows of one *level* have equal potential and adjacent ranks, and never lead to each other.
///
/// The number of rows of `n` pits with `k` seeds and potential `p`, `count(n, k, p)`, is the coefficient of q^p in a
/// Gaussian binomial. All ranks are sums and differences of these counts (docs/indexing.md).
pub struct RowIndex {
    pits: usize,
    max_seeds: usize,
    /// `counts[n][k * stride + p]` for n from 1 to `pits`; `counts[0]` is unused.
    counts: Vec<Vec<u32>>,
    stride: usize,
    /// `levels[k][p]`: number of rows with `k` seeds and a potential below `p`, which is at most (pits - 1) k + 1.
    levels: Vec<Vec<u32>>,
}

impl RowIndex {
    /// Makes an index for rows of `pits` pits with up to `max_seeds` seeds; `None` beyond the limits of tables.
    pub fn new(pits: usize, max_seeds: usize) -> Option<RowIndex> {
        if !(1..=MAX_TABLE_PITS).contains(&pits) || max_seeds > MAX_TABLE_SEEDS {
            return None;
        }
        let stride = (pits - 1) * max_seeds + 1;
        let mut counts = vec![Vec::new(); pits + 1];
        for n in 1..=pits {
            let mut table = vec![0u32; (max_seeds + 1) * stride];
            for k in 0..=max_seeds {
                for p in 0..=(n - 1) * k {
                    // Either the first pit is empty, or removing one of its seeds gives the rest.
                    let first_empty = if n > 1 { counts[n - 1][k * stride + p] } else { u32::from(k == 0) };
                    let one_less = if k > 0 && p >= n - 1 { table[(k - 1) * stride + p - (n - 1)] } else { 0 };
                    table[k * stride + p] = first_empty + one_less;
                }
            }
            counts[n] = table;
        }
        let levels = (0..=max_seeds)
            .map(|k| {
                let level_counts = &counts[pits][k * stride..][..(pits - 1) * k + 1];
                let mut below = vec![0];
                below.extend(level_counts.iter().scan(0, |sum, &count| {
                    *sum += count;
                    Some(*sum)
                }));
                below
            })
            .collect();
        Some(RowIndex { pits, max_seeds, counts, stride, levels })
    }

    /// Pits of a row.
    pub fn pits(&self) -> usize {
        self.pits
    }

    /// Maximum seeds of a row.
    pub fn max_seeds(&self) -> usize {
        self.max_seeds
    }

    /// Number of rows with exactly `seeds` seeds.
    #[inline]
    pub fn rows(&self, seeds: usize) -> usize {
        self.levels[seeds][self.levels[seeds].len() - 1] as usize
    }

    /// Bounds of the levels of the rows with `seeds` seeds: level `p` holds the ranks `bounds[p]..bounds[p + 1]`.
    pub fn level_bounds(&self, seeds: usize) -> &[u32] {
        &self.levels[seeds]
    }

    /// Number of rows of `pits` pits (1 to that of the index) with `seeds` seeds and this potential.
    pub fn count(&self, pits: usize, seeds: usize, potential: usize) -> u32 {
        if potential < self.stride { self.counts[pits][seeds * self.stride + potential] } else { 0 }
    }

    /// Number of potentials, from 0 to that of all seeds in the first pit.
    pub fn potentials(&self) -> usize {
        self.stride
    }

    /// Returns the terms whose sum, modulo 2^32, is the rank of a row, computed from the first pit on.
    ///
    /// There is a term for each number of pits passed (none to all but two), seeds in the remaining pits, and potential
    /// of these. The potential varies fastest, over all [`RowIndex::potentials`]. With fewer than three pits, none is
    /// passed. Each term combines the two numbers that [`RowIndex::rank`] adds and subtracts for the same seeds and
    /// potential, so a shader reads one number instead of two.
    pub fn rank_terms(&self) -> Vec<u32> {
        let (pits, most) = (self.pits, self.max_seeds);
        let passed = 0..=pits.saturating_sub(2);
        let left = passed.flat_map(|passed| (0..=most).map(move |seeds| (passed, seeds)));
        left.flat_map(|(passed, seeds)| (0..self.stride).map(move |potential| (passed, seeds, potential)))
            .map(|(passed, seeds, potential)| {
                let count = |pits: usize| if pits >= 3 { self.count(pits, seeds, potential) } else { 0 };
                let added = count(pits - passed);
                if passed == 0 {
                    // There are no rows beyond the last level.
                    let levels = &self.levels[seeds];
                    levels.get(potential).map_or(0, |&below| below.wrapping_add(added))
                } else {
                    added.wrapping_sub(count(pits - passed + 1))
                }
            })
            .collect()
    }

    /// Rank of `row` among the rows with the same number of seeds. If pits beyond the board hold seeds, or there are
    /// more than `max_seeds`, this panics or returns a meaningless number.
    #[inline]
    pub fn rank(&self, row: &TableRow) -> u32 {
        let (mut seeds, mut potential) = (0usize, 0usize);
        for &pit in &row[..self.pits] {
            // One pit farther on, each seed passed weighs one more.
            potential += seeds;
            seeds += usize::from(pit);
        }
        let mut rank = self.levels[seeds][potential];
        // Seeds and potential determine the last two pits.
        for (n, &pit) in (3..=self.pits).rev().zip(row) {
            let count = &self.counts[n];
            // The sum and the difference add the number of such rows with fewer seeds in this pit.
            rank += count[seeds * self.stride + potential];
            seeds -= usize::from(pit);
            potential -= usize::from(pit) * (n - 1);
            rank -= count[seeds * self.stride + potential];
        }
        rank
    }

    /// Returns the row with `seeds` seeds and this rank: the inverse of [`RowIndex::rank`]. Panics without such a rank.
    pub fn unrank(&self, seeds: usize, rank: u32) -> TableRow {
        assert!((rank as usize) < self.rows(seeds), "rank {rank} of the rows with {seeds} seeds");
        let mut potential = self.levels[seeds].partition_point(|&below| below <= rank) - 1;
        let mut rest = rank - self.levels[seeds][potential];
        let mut seeds = seeds;
        let mut row = TableRow::default();
        for (pit, place) in row[..self.pits - 1].iter_mut().enumerate() {
            let n = self.pits - pit - 1;
            loop {
                let fewer = self.counts[n][seeds * self.stride + potential];
                if rest < fewer {
                    break;
                }
                rest -= fewer;
                *place += 1;
                seeds -= 1;
                potential -= n;
            }
        }
        row[self.pits - 1] = seeds as u8;
        row
    }
}

impl fmt::Debug for RowIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowIndex").field("pits", &self.pits).field("max_seeds", &self.max_seeds).finish_non_exhaustive()
    }
}

/// Ranks the positions of a layer: `seeds` seeds in play, both rows non-empty. The frames follow each other without
/// gaps, from 1 seed in the mover's row to `seeds - 1`.
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

    /// Rows (mover's, other) of the position with this rank. Panics when it is not below [`LayerIndex::positions`].
    pub fn unrank(&self, rank: u64) -> (TableRow, TableRow) {
        assert!(rank < self.positions(), "rank {rank} of a layer of {}", self.positions());
        let mover = self.starts.partition_point(|&start| start <= rank) - 1;
        let frame = Frame { pits: self.rows.pits(), mover, other: self.seeds - mover };
        let (mover_rank, other_rank) = frame.ranks(rank - self.starts[mover]);
        (self.rows.unrank(frame.mover, mover_rank), self.rows.unrank(frame.other, other_rank))
    }
}
