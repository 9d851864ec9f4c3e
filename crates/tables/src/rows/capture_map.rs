use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use kalah_core::index::{RankSet, TableRow};

/// Ranks of rows that are evaluated together: as many as a word has bits.
const BLOCK: usize = u64::BITS as usize;

/// What the capture of one pit, after whole laps of seeds were sown, leaves of rows with one number of seeds.
///
/// What is left has one seed for each lap in every other pit at least, and none in this one. Giving and taking the same seeds keeps the
/// order of rows. So the rows that hold the same number of seeds in the pit, in the order of their ranks, become all such rows
/// with what is left of the seeds, in the order of theirs. Scores of these are kept one after the other, first those of rows
/// that hold none: at the *place* of a row is the score of what is left of it.
pub struct CaptureMap {
    rows: usize,
    /// Made on first use: parts say the same, in half the memory.
    places: OnceLock<Vec<u32>>,
    remaining: Vec<Arc<RankSet>>,
    segments: Vec<Range<u32>>,
    /// Where the parts of each block begin, and where the last ones end.
    part_starts: Vec<u32>,
    parts: Vec<Part>,
}

/// The rows among 64 with adjacent ranks that hold the same number of seeds in the captured pit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which ones: bit 0 for the first of the 64.
    pub rows: u64,
    /// The place of the first of them; the others follow it.
    pub place: u32,
}

impl CaptureMap {
    /// `all` are the rows, and `remaining` what is left of those that hold 0, 1, .. seeds in the pit.
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
                match parts[first_part..].iter_mut().find(|part: &&mut Part| segment.contains(&part.place)) {
                    Some(part) => part.rows |= 1 << bit,
                    None => parts.push(Part { rows: 1 << bit, place }),
                }
            }
            part_starts.push(parts.len() as u32);
        }
        parts.shrink_to_fit();
        assert!(next.iter().zip(&segments).all(|(&next, segment)| next == segment.end), "each row has a place");
        CaptureMap { rows: all.len(), places: OnceLock::new(), remaining, segments, part_starts, parts }
    }

    /// How many rows there are, and places.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// For each row by its rank, the place of the score of what is left of it.
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

    /// What is left of the rows that hold 0, 1, .. seeds in the pit, among all rows with as many seeds.
    #[inline]
    pub fn remaining(&self) -> &[Arc<RankSet>] {
        &self.remaining
    }

    /// The places of the scores of each of these.
    #[inline]
    pub fn segments(&self) -> &[Range<u32>] {
        &self.segments
    }

    /// The parts of the rows with ranks from `64 * block` on.
    #[inline]
    pub fn parts(&self, block: usize) -> &[Part] {
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
