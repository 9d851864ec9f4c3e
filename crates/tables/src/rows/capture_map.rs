use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use kalah_core::index::{RankSet, TableRow};

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
    pub fn rows(&self) -> usize {
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

impl fmt::Debug for CaptureMap {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter
            .debug_struct("CaptureMap")
            .field("rows", &self.rows)
            .field("segments", &self.segments)
            .finish_non_exhaustive()
    }
}
