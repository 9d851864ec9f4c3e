use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::cache::Cache;
use crate::index::{RowIndex, TableRow};

/// How a spill changes rows: for every row with one number of seeds, its rank after `spilled` seeds were sown into it,
/// from the first pit on, lap by lap.
///
/// Adding the same seeds to every row keeps their order, so the ranks ascend: the resulting rows are a subsequence of
/// all rows with that many seeds.
pub struct SpillMap {
    ranks: Vec<u32>,
    selected: Vec<u64>,
}

impl SpillMap {
    fn new(rows: &RowIndex, all: &[TableRow], seeds: usize, spilled: usize) -> SpillMap {
        let pits = rows.pits();
        let ranks: Vec<u32> = all
            .par_iter()
            .map(|&row| {
                let mut row = row;
                for (pit, place) in row[..pits].iter_mut().enumerate() {
                    *place += (spilled / pits + usize::from(pit < spilled % pits)) as u8;
                }
                rows.rank(&row)
            })
            .collect();
        debug_assert!(ranks.is_sorted_by(|a, b| a < b));
        let mut selected = vec![0u64; rows.rows(seeds + spilled).div_ceil(64) + 1];
        for &rank in &ranks {
            selected[rank as usize / 64] |= 1 << (rank % 64);
        }
        SpillMap { ranks, selected }
    }

    /// The rank of each row after the spill, by its rank before; ascending.
    #[inline]
    pub fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// The same as a bit set over the ranks after the spill (bit `rank % 64` of word `rank / 64`), with one spare word.
    #[inline]
    pub fn selected(&self) -> &[u64] {
        &self.selected
    }
}

/// How the capture of one pit changes rows: for every row with one number of seeds, its rank without the seeds of that
/// pit.
pub struct CaptureMap {
    places: Vec<u32>,
    segments: Vec<Range<u32>>,
}

impl CaptureMap {
    /// Unused places between two segments, so that a segment can be filled with whole groups.
    pub const MARGIN: usize = 256;

    fn new(rows: &RowIndex, all: &[TableRow], seeds: usize, pit: usize) -> CaptureMap {
        let mut end = 0;
        let segments: Vec<Range<u32>> = (0..=seeds)
            .map(|captured| {
                let start = end + CaptureMap::MARGIN as u32;
                end = start + rows.rows(seeds - captured) as u32;
                start..end
            })
            .collect();
        let places = all
            .par_iter()
            .map(|&row| {
                let mut row = row;
                let captured = std::mem::take(&mut row[pit]);
                segments[usize::from(captured)].start + rows.rank(&row)
            })
            .collect();
        CaptureMap { places, segments }
    }

    /// For each row by its rank, the place of the row without the pit among all rows with 0, 1, .. seeds fewer: segment
    /// `c` holds those with `c` seeds captured.
    #[inline]
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// The places of each segment; before each, and after the last, [`CaptureMap::MARGIN`] places are unused.
    #[inline]
    pub fn segments(&self) -> &[Range<u32>] {
        &self.segments
    }
}

/// The [`SpillMap`]s and [`CaptureMap`]s of the rows of a board, each made on first use and kept.
///
/// They depend only on the board, so one set serves all layers of a build. Up to 34 seeds at 6 pits they take less than
/// half a gigabyte.
pub struct RowMaps {
    rows: Arc<RowIndex>,
    all: Cache<usize, Vec<TableRow>>,
    spills: Cache<(usize, usize), SpillMap>,
    captures: Cache<(usize, usize), CaptureMap>,
    empty: Cache<(usize, usize), Vec<u8>>,
}

impl RowMaps {
    /// The maps of the rows that `rows` ranks.
    pub fn new(rows: Arc<RowIndex>) -> RowMaps {
        RowMaps {
            rows,
            all: Cache::default(),
            spills: Cache::default(),
            captures: Cache::default(),
            empty: Cache::default(),
        }
    }

    /// The ranks of the rows.
    pub fn rows(&self) -> &Arc<RowIndex> {
        &self.rows
    }

    /// All rows with `seeds` seeds, by rank.
    pub fn all(&self, seeds: usize) -> Arc<Vec<TableRow>> {
        self.all.get(seeds, || {
            let ranks = 0..self.rows.rows(seeds) as u32;
            ranks.into_par_iter().map(|rank| self.rows.unrank(seeds, rank)).collect()
        })
    }

    /// The map for rows with `seeds` seeds and a spill of `spilled` seeds.
    pub fn spill(&self, seeds: usize, spilled: usize) -> Arc<SpillMap> {
        self.spills.get((seeds, spilled), || SpillMap::new(&self.rows, &self.all(seeds), seeds, spilled))
    }

    /// For each row with `seeds` seeds, by rank: 0xff where `pit` (from 0) is empty, 0 elsewhere.
    pub fn empty(&self, seeds: usize, pit: usize) -> Arc<Vec<u8>> {
        self.empty
            .get((seeds, pit), || self.all(seeds).iter().map(|row| if row[pit] == 0 { 0xff } else { 0 }).collect())
    }

    /// The map for rows with `seeds` seeds and the capture of `pit` (from 0).
    pub fn capture(&self, seeds: usize, pit: usize) -> Arc<CaptureMap> {
        self.captures.get((seeds, pit), || CaptureMap::new(&self.rows, &self.all(seeds), seeds, pit))
    }
}

impl fmt::Debug for SpillMap {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.debug_struct("SpillMap").field("rows", &self.ranks.len()).finish_non_exhaustive()
    }
}

impl fmt::Debug for CaptureMap {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let rows = self.places.len();
        formatter
            .debug_struct("CaptureMap")
            .field("rows", &rows)
            .field("segments", &self.segments)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for RowMaps {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.debug_struct("RowMaps").field("pits", &self.rows.pits()).finish_non_exhaustive()
    }
}
