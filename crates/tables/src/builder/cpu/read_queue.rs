//! Frames of lower tables, and scores that are read one by one.

use kalah_core::index::Frame;
use kalah_core::table::{FrameScores, ScorePlace, Table, TableError, Tables};

use crate::table::frame_in_parallel;

/// Number of scores that are prefetched before the first of them is read.
const AHEAD: usize = 256;

/// A frame of a lower table.
pub(super) type Child<'a> = (&'a Table, FrameScores<'a>);

/// Returns the scores of a lower frame.
pub(super) fn child(tables: &Tables, frame: Frame) -> Result<Child<'_>, TableError> {
    let table = tables.require(frame.mover + frame.other)?;
    Ok((table, frame_in_parallel(table, frame.mover)?))
}

/// Scores to be read from lower frames, each for one other row.
pub(super) struct ReadQueue<'a> {
    /// By the index of a lower frame.
    children: &'a [Option<Child<'a>>],
    waiting: Vec<Read<'a>>,
}

struct Read<'a> {
    place: ScorePlace<'a>,
    /// Rank of the other row before the move.
    rank: u32,
    /// Index of the lower frame.
    child: u16,
    worth: Worth,
}

/// Conversion of a lower frame's score into the mover's: `base` plus the score with the bits of
/// `flip` flipped, modulo 256.
#[derive(Clone, Copy)]
pub(super) struct Worth {
    flip: u8,
    base: u8,
}

impl Worth {
    /// The mover has stored `stored` seeds and moves again.
    pub(super) fn again(stored: u8) -> Worth {
        Worth { flip: 0, base: stored }
    }

    /// The opponent moves. The mover gets all `total` seeds except those that the opponent
    /// collects.
    pub(super) fn pass(total: u8) -> Worth {
        Worth { flip: u8::MAX, base: total.wrapping_add(1) }
    }

    #[inline(always)]
    fn of(self, score: u8) -> u8 {
        self.base.wrapping_add(score ^ self.flip)
    }
}

impl<'a> ReadQueue<'a> {
    /// Prepares an empty list of reads from these frames.
    pub(super) fn new(children: &'a [Option<Child<'a>>]) -> ReadQueue<'a> {
        ReadQueue { children, waiting: Vec::with_capacity(AHEAD) }
    }

    /// Prefetches the score at a place of the frame with index `child`, to be read for the other
    /// row with this rank.
    #[inline(always)]
    pub(super) fn push(&mut self, child: u16, place: ScorePlace<'a>, worth: Worth, rank: u32) {
        place.prefetch();
        self.waiting.push(Read { place, rank, child, worth });
    }

    /// Calls [`ReadQueue::read`] if there are many scores to read.
    #[inline(always)]
    pub(super) fn read_many(&mut self, best: &mut [u8]) -> Result<(), TableError> {
        if self.waiting.len() < AHEAD { Ok(()) } else { self.read(best) }
    }

    /// Reads all the scores, and raises `best`, by rank of the other row, to their worth.
    pub(super) fn read(&mut self, best: &mut [u8]) -> Result<(), TableError> {
        for &Read { place, rank, child, worth } in &self.waiting {
            let (source, scores) = self.children[usize::from(child)].as_ref().expect("the frame of a place");
            let score = scores.score_at(place).map_err(|group| source.damaged_group(group))?;
            raise(best, rank, worth.of(score));
        }
        self.waiting.clear();
        Ok(())
    }
}

/// Raises the score of the other row with this rank.
#[inline(always)]
pub(super) fn raise(best: &mut [u8], rank: u32, score: u8) {
    let best = &mut best[rank as usize];
    *best = (*best).max(score);
}
