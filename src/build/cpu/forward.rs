//! One mover's row against all other rows: the moves that lead to lower layers.

use std::cell::RefCell;
use std::sync::Arc;

use rayon::prelude::*;

use super::{RowMove, kernels};
use crate::game::{Pit, Row, Rules, sow};
use crate::index::{CaptureMap, Frame, RowMaps, SpillMap, TableRow};
use crate::isa::Isa;
use crate::table::{RUN_MARGIN, TableError, Tables};

/// Bytes of work that are worth a task of their own.
pub(super) const TASK_BYTES: usize = 1 << 15;

/// Other rows that are unpacked together when a frame is turned around.
const TURN_ROWS: usize = 64;

/// Buffers of a thread.
#[derive(Default)]
struct Scratch {
    run: Vec<u8>,
    selected: Vec<u8>,
    segments: Vec<u8>,
    places: Vec<u32>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Evaluates the moves of one frame: each mover's row against all other rows.
pub(super) struct FrameEvaluator<'a> {
    isa: Isa,
    tables: &'a Tables,
    frame: Frame,
    movers: Arc<Vec<TableRow>>,
    /// The frame of the layer below with one seed fewer in the mover's row, turned around: a run of scores for all
    /// other rows, for each mover's row. Children of most moves that move again.
    again: &'a [u8],
    /// By seeds spilled on the other row.
    spills: Vec<Arc<SpillMap>>,
    /// By laps sown before the capture and by pit.
    captures: Vec<Vec<Arc<CaptureMap>>>,
}

impl<'a> FrameEvaluator<'a> {
    /// An evaluator of `frame` with the layers below in `tables`.
    ///
    /// `again` becomes the buffer of the frame turned around; it grows as needed.
    pub fn new(
        isa: Isa,
        tables: &'a Tables,
        maps: &RowMaps,
        frame: Frame,
        again: &'a mut Vec<u8>,
    ) -> Result<FrameEvaluator<'a>, TableError> {
        let Frame { pits, mover, other } = frame;
        let turned = Frame { pits, mover: mover - 1, other };
        turn_around(isa, tables, turned, again)?;
        // No pit holds more than the row, which bounds what can fall on the other one; a relay may go around more often.
        let most_spilled = match tables.rules() {
            Rules::SKalaha => mover,
            _ => pits * mover.div_ceil(2 * pits + 1),
        };
        let spills = (0..mover.min(most_spilled + 1)).map(|spilled| maps.spill(other, spilled)).collect();
        // A sowing can capture in its first lap around the board, then in no later one: its last pit is not empty.
        let laps = match tables.rules() {
            Rules::SKalaha => 0..0,
            _ if mover < pits + 2 => 0..1,
            _ => 0..2,
        };
        let captures = laps.map(|lap| (0..pits).map(|pit| maps.capture(other + lap * pits, pit)).collect()).collect();
        Ok(FrameEvaluator { isa, tables, frame, movers: maps.all(mover), again, spills, captures })
    }

    fn total(&self) -> u8 {
        (self.frame.mover + self.frame.other) as u8
    }

    /// Sets `best` to the scores of the mover's row with rank `mover` against all other rows, as far as the moves that
    /// lead to lower layers go.
    pub fn forward(&self, mover: u32, best: &mut [u8]) -> Result<(), TableError> {
        SCRATCH.with_borrow_mut(|scratch| self.forward_in(mover, best, scratch))
    }

    fn forward_in(&self, mover: u32, best: &mut [u8], scratch: &mut Scratch) -> Result<(), TableError> {
        let Frame { pits, mover: seeds, other } = self.frame;
        let (rows, total) = (self.tables.rows(), self.total());
        let row = self.movers[mover as usize];
        best.fill(0);
        for (pit, row_move) in RowMove::all(self.tables.rules(), pits, &row) {
            match row_move {
                RowMove::Quiet { .. } => {}
                RowMove::Again { own, stored, spilled } => {
                    let left = seeds - usize::from(stored + spilled);
                    if left == 0 {
                        best.iter_mut().for_each(|best| *best = (*best).max(stored));
                    } else if spilled == 0 {
                        let run = best.len();
                        let scores = &self.again[rows.rank(&own) as usize * run..][..run];
                        kernels::max_after_again(self.isa, best, scores, stored);
                    } else {
                        self.again_after_laps(&own, left, stored, spilled, best)?;
                    }
                }
                RowMove::Pass { own, spilled } => {
                    let opponent = other + usize::from(spilled);
                    let Scratch { run, selected, .. } = scratch;
                    let count = self.tables.rows().rows(opponent);
                    grow(run, count + 2 * RUN_MARGIN);
                    self.child_run(&own, opponent, run, RUN_MARGIN)?;
                    let scores = &run[RUN_MARGIN..RUN_MARGIN + count];
                    let scores = if spilled == 0 {
                        scores
                    } else {
                        let map = &self.spills[usize::from(spilled)];
                        grow(selected, best.len() + 64);
                        kernels::select(self.isa, scores, map, selected);
                        &selected[..best.len()]
                    };
                    kernels::max_after_pass(self.isa, best, scores, total);
                }
                RowMove::Capture { own, spilled, pit, uncaptured, .. } => {
                    let map = &self.captures[usize::from(spilled) / pits][pit];
                    self.capture(&own, usize::from(spilled), map, uncaptured.is_none(), best, scratch)?;
                }
                RowMove::Relay => self.relay(&row, pit, best)?,
            }
        }
        Ok(())
    }

    /// Unpacks the scores of all positions with `opponent` seeds in the row to move and `own` as the other row to
    /// `buffer` from `at` on, with [`RUN_MARGIN`] bytes around them.
    ///
    /// Where `own` is empty the game is over and the seeds belong to the opponent.
    fn child_run(&self, own: &TableRow, opponent: usize, buffer: &mut [u8], at: usize) -> Result<(), TableError> {
        let left = own.iter().map(|&seeds| usize::from(seeds)).sum::<usize>();
        let count = self.tables.rows().rows(opponent);
        if left == 0 || opponent == 0 {
            buffer[at..at + count].fill(opponent as u8);
            return Ok(());
        }
        let table = self.tables.require(left + opponent)?;
        let ranks = (0, self.tables.rows().rank(own));
        let unpacked = table.frame(opponent).unpack_run(self.isa, ranks, count, buffer, at);
        unpacked.map_err(|line| table.damaged_line(line))
    }

    /// A capture: the opponent's rows without the pit, for every number of seeds it may have held.
    fn capture(
        &self,
        own: &TableRow,
        spilled: usize,
        map: &CaptureMap,
        captures_empty: bool,
        best: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<(), TableError> {
        let opponent = self.frame.other + spilled;
        let Scratch { segments, places, .. } = scratch;
        let ranges = map.segments();
        let end = ranges[opponent].end as usize;
        grow(segments, end + CaptureMap::MARGIN);
        for (captured, range) in ranges.iter().enumerate() {
            let (start, end) = (range.start as usize, range.end as usize);
            if captured > 0 || captures_empty {
                self.child_run(own, opponent - captured, segments, start)?;
            } else {
                // No capture here: worth nothing, so that another move decides.
                segments[start..end].fill(self.total());
            }
        }
        let places = if spilled == 0 {
            map.places()
        } else {
            places.clear();
            places.extend(self.spills[spilled].ranks().iter().map(|&rank| map.places()[rank as usize]));
            places
        };
        kernels::max_after_capture(self.isa, best, &segments[..end], places, self.total());
        Ok(())
    }

    /// A move that goes around the board and ends in the store: rare, so the children are read one by one.
    fn again_after_laps(
        &self,
        own: &TableRow,
        left: usize,
        stored: u8,
        spilled: u8,
        best: &mut [u8],
    ) -> Result<(), TableError> {
        let opponent = self.frame.other + usize::from(spilled);
        let table = self.tables.require(left + opponent)?;
        let scores = table.frame(left);
        let rank = self.tables.rows().rank(own);
        for (best, &other) in best.iter_mut().zip(self.spills[usize::from(spilled)].ranks()) {
            let score = scores.score(rank, other).map_err(|line| table.damaged_line(line))?;
            *best = (*best).max(score.saturating_add(stored));
        }
        Ok(())
    }

    /// A move that may pick up seeds of the other row: played position by position.
    fn relay(&self, row: &TableRow, pit: usize, best: &mut [u8]) -> Result<(), TableError> {
        let (rows, pits, rules) = (self.tables.rows(), self.frame.pits, self.tables.rules());
        let game_row = |row: &TableRow| Row::new(&row.map(u32::from)[..pits]).expect("a table's board has a row");
        let mover = game_row(row);
        let pit = Pit::from_index(pit).expect("a pit of a table's board");
        let table_row = |row: &Row| {
            let mut seeds = TableRow::default();
            seeds.iter_mut().zip(row.seeds()).for_each(|(place, &seeds)| *place = seeds as u8);
            seeds
        };
        for (rank, best) in best.iter_mut().enumerate() {
            let other = rows.unrank(self.frame.other, rank as u32);
            let sown = sow(rules, &mover, &game_row(&other), pit);
            let (own, opposite) = (table_row(&sown.mover), table_row(&sown.other));
            let score = if sown.again && !sown.other.is_empty() {
                self.tables.score(&own, &opposite)?.saturating_add(sown.stored as u8)
            } else {
                self.total().saturating_sub(self.tables.score(&opposite, &own)?)
            };
            *best = (*best).max(score);
        }
        Ok(())
    }
}

fn grow<T: Default + Clone>(buffer: &mut Vec<T>, len: usize) {
    if buffer.len() < len {
        buffer.resize(len, T::default());
    }
}

/// Unpacks `frame` into `buffer`, turned around: a run of the scores against all other rows, for each mover's row.
///
/// A frame with an empty mover's row, which no table has, gives nothing.
fn turn_around(isa: Isa, tables: &Tables, frame: Frame, buffer: &mut Vec<u8>) -> Result<(), TableError> {
    if frame.mover == 0 {
        return Ok(());
    }
    let table = tables.require(frame.mover + frame.other)?;
    let scores = table.frame(frame.mover);
    let (movers, others) = (frame.mover_rows(), tables.rows().rows(frame.other));
    grow(buffer, movers * others);
    // A task turns the part of all runs that belongs to a few mover's rows.
    let task_rows = movers.div_ceil(64).clamp(TURN_ROWS, 1024);
    buffer[..movers * others].par_chunks_mut(task_rows * others).enumerate().try_for_each(|(task, turned)| {
        let first = task * task_rows;
        let part = turned.len() / others;
        let stride = part + 2 * RUN_MARGIN;
        let mut runs = vec![0; TURN_ROWS * stride];
        for other in (0..others).step_by(TURN_ROWS) {
            let count = TURN_ROWS.min(others - other);
            for index in 0..count {
                let ranks = (first as u32, (other + index) as u32);
                let unpacked = scores.unpack_run(isa, ranks, part, &mut runs, index * stride + RUN_MARGIN);
                unpacked.map_err(|line| table.damaged_line(line))?;
            }
            kernels::transpose(isa, &runs[RUN_MARGIN..], stride, count, part, &mut turned[other..], others);
        }
        Ok(())
    })
}
