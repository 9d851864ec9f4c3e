use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use kalah_core::index::{RankSet, RowIndex, TableRow};
use parking_lot::Mutex;
use rayon::prelude::*;

/// The effect of a spill on all rows with one number of seeds: the rank of each row after `spilled`
/// seeds were sown into it, from the first pit on, lap by lap.
///
/// Adding the same seeds to every row keeps their order, so the ranks ascend. The resulting rows
/// are a subsequence of all rows with that many seeds.
#[derive(Debug)]
pub struct SpillMap {
    ranks: Vec<u32>,
    selected: RankSet,
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
        let selected = RankSet::new(rows.rows(seeds + spilled), ranks.iter().copied());
        SpillMap { ranks, selected }
    }

    /// Rank of each row after the spill, by its rank before; ascending.
    #[inline]
    pub fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// The same ranks as a set.
    #[inline]
    pub fn selected(&self) -> &RankSet {
        &self.selected
    }
}

/// The [`SpillMap`]s, [`CaptureMap`]s and other maps of the rows of a board, each made on first use
/// and kept.
///
/// They depend only on the board, so one set serves all layers of a build. Up to 34 seeds at 6 pits
/// they take less than half a gigabyte.
#[derive(Debug)]
pub struct RowMaps {
    rows: Arc<RowIndex>,
    all: Cache<usize, Vec<TableRow>>,
    spills: Cache<(usize, usize), SpillMap>,
    captures: Cache<(usize, usize, usize), CaptureMap>,
    remainders: Cache<(usize, usize), Vec<u32>>,
    empty: Cache<(usize, usize), Vec<u8>>,
    empty_ranks: Cache<(usize, usize, usize), RankSet>,
}

impl RowMaps {
    /// Prepares the maps of the rows that `rows` ranks.
    pub fn new(rows: Arc<RowIndex>) -> RowMaps {
        RowMaps {
            rows,
            all: Cache::default(),
            spills: Cache::default(),
            captures: Cache::default(),
            remainders: Cache::default(),
            empty_ranks: Cache::default(),
            empty: Cache::default(),
        }
    }

    /// Ranks of the rows.
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
    pub(crate) fn empty(&self, seeds: usize, pit: usize) -> Arc<Vec<u8>> {
        self.empty
            .get((seeds, pit), || self.all(seeds).iter().map(|row| if row[pit] == 0 { 0xff } else { 0 }).collect())
    }

    /// Rows with `seeds` seeds in which `pit` (from 0) is empty and every other pit has at least
    /// `least` seeds.
    pub fn empty_ranks(&self, seeds: usize, pit: usize, least: usize) -> Arc<RankSet> {
        self.empty_ranks.get((seeds, pit, least), || {
            let all = self.all(seeds);
            let pits = self.rows.pits();
            let others =
                |row: &TableRow| (0..pits).filter(|&other| other != pit).all(|other| usize::from(row[other]) >= least);
            let ranks = all.iter().zip(0..).filter(|(row, _)| row[pit] == 0 && others(row)).map(|(_, rank)| rank);
            RankSet::new(all.len(), ranks)
        })
    }

    /// For each row with `seeds` seeds, by rank: its rank without the seeds of `pit` (from 0),
    /// among the rows with the remaining seeds.
    pub fn remainders(&self, seeds: usize, pit: usize) -> Arc<Vec<u32>> {
        self.remainders.get((seeds, pit), || {
            let without = |&row: &TableRow| {
                let mut row = row;
                row[pit] = 0;
                self.rows.rank(&row)
            };
            self.all(seeds).par_iter().map(without).collect()
        })
    }

    /// The map for rows with `seeds` seeds in which `pit` (from 0) is captured after `laps` seeds
    /// were sown into each pit.
    pub fn capture(&self, seeds: usize, pit: usize, laps: usize) -> Arc<CaptureMap> {
        self.captures.get((seeds, pit, laps), || {
            // A row that holds `held` seeds in the pit also loses the seeds sown there.
            let sown = laps * (self.rows.pits() - 1);
            let remaining = (0..=seeds).map(|held| self.empty_ranks(seeds - held + sown, pit, laps)).collect();
            CaptureMap::new(&self.all(seeds), pit, remaining)
        })
    }
}

/// Values by key, each made on first use and kept.
#[derive(Debug)]
pub(super) struct Cache<K, V>(Mutex<HashMap<K, Arc<V>>>);

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Cache(Mutex::default())
    }
}

impl<K: Copy + Eq + Hash, V> Cache<K, V> {
    /// Returns the value of `key`, made with `make` if it does not exist.
    pub(super) fn get(&self, key: K, make: impl FnOnce() -> V) -> Arc<V> {
        if let Some(found) = self.0.lock().get(&key) {
            return Arc::clone(found);
        }
        // Made without holding the lock, which other threads may need for making their values.
        let made = Arc::new(make());
        Arc::clone(self.0.lock().entry(key).or_insert(made))
    }
}

/// Ranks of rows that are evaluated together: the bits of a word.
const BLOCK: usize = u64::BITS as usize;

/// The effect of capturing one pit, after whole laps of seeds were sown, on all rows with one
/// number of seeds.
///
/// After the capture, every other pit has at least one seed for each lap, and the captured one has
/// none. Adding and removing the same seeds keeps the order of rows. So the rows with the same
/// number of seeds in the pit, in rank order, become all such remaining rows, in rank order.
///
/// Scores of the remaining rows are kept one after the other, those of rows with an empty pit
/// first. The *place* of a row is where the score of its remaining row is.
#[derive(Debug)]
pub struct CaptureMap {
    rows: usize,
    /// Made on first use: parts hold the same in half the memory.
    places: OnceLock<Vec<u32>>,
    remaining: Vec<Arc<RankSet>>,
    segments: Vec<Range<u32>>,
    /// Where the parts of each block begin, and where the last ones end.
    part_starts: Vec<u32>,
    parts: Vec<CapturePart>,
}

/// The rows among 64 with adjacent ranks that hold the same number of seeds in the captured pit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapturePart {
    /// The rows: bit 0 for the first of the 64.
    pub rows: u64,
    /// Place of the first of them. The others follow it.
    pub place: u32,
}

impl CaptureMap {
    /// Makes a map of `all` rows. `remaining` are the rows that are left of those with 0, 1, ..
    /// seeds in the pit.
    pub(super) fn new(all: &[TableRow], pit: usize, remaining: Vec<Arc<RankSet>>) -> CaptureMap {
        let mut end = 0;
        let segments: Vec<Range<u32>> = remaining
            .iter()
            .map(|rows| {
                let start = end;
                end += rows.len() as u32;
                start..end
            })
            .collect();
        let mut next: Vec<u32> = segments.iter().map(|segment| segment.start).collect();
        let (mut parts, mut part_starts) = (Vec::new(), vec![0]);
        for block in all.chunks(BLOCK) {
            let first_part = parts.len();
            for (row, bit) in block.iter().zip(0..) {
                let held = usize::from(row[pit]);
                let place = next[held];
                next[held] += 1;
                let segment = &segments[held];
                match parts[first_part..].iter_mut().find(|part: &&mut CapturePart| segment.contains(&part.place)) {
                    Some(part) => part.rows |= 1 << bit,
                    None => parts.push(CapturePart { rows: 1 << bit, place }),
                }
            }
            part_starts.push(parts.len() as u32);
        }
        parts.shrink_to_fit();
        assert!(next.iter().zip(&segments).all(|(&next, segment)| next == segment.end), "each row has a place");
        CaptureMap { rows: all.len(), places: OnceLock::new(), remaining, segments, part_starts, parts }
    }

    /// Number of rows, and of places.
    #[inline]
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// For each row by its rank, the place of the score of its remaining row.
    pub fn places(&self) -> &[u32] {
        self.places.get_or_init(|| {
            let mut places = vec![0; self.rows];
            for (block, places) in places.chunks_mut(BLOCK).enumerate() {
                for part in self.parts(block) {
                    let rows = places.iter_mut().enumerate().filter(|(row, _)| part.rows >> row & 1 == 1);
                    rows.zip(part.place..).for_each(|((_, place), next)| *place = next);
                }
            }
            places
        })
    }

    /// Remaining rows of those with 0, 1, .. seeds in the pit, among all rows with as many seeds.
    #[inline]
    pub fn remaining(&self) -> &[Arc<RankSet>] {
        &self.remaining
    }

    /// Places of the scores of each of these sets.
    #[inline]
    pub fn segments(&self) -> &[Range<u32>] {
        &self.segments
    }

    /// Parts of the rows with ranks from `64 * block` on.
    #[inline]
    pub fn parts(&self, block: usize) -> &[CapturePart] {
        &self.parts[self.part_starts[block] as usize..self.part_starts[block + 1] as usize]
    }
}
