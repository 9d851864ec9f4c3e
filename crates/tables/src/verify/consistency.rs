use std::sync::Arc;
use std::sync::atomic::Ordering;

use kalah_base::progress::Pulse;
use kalah_base::random::{generator, mixed};
use kalah_core::game::Bounds;
use kalah_core::index::{Frame, TableRow, layer_frames, row_seeds};
use kalah_core::table::{BoundTable, TableError, TableKey, Tables};
use rayon::prelude::*;

use super::frame_check::FrameCheck;
use super::{Fault, Oracle, position};

/// Checks that every score of the layer with `seeds` seeds is the minimax of its children, assuming
/// that the lower layers are correct. Returns the number of positions, which `pulse` counts while it
/// runs.
///
/// Checks whole frames at once, except for rules with relays. If that finds
/// anything wrong, positions are checked one by one, as [`check_sample`] does, which decides.
///
/// # Errors
/// The first wrong score by rank in the layer, or the wrong score that caused it; or the reason why
/// a table cannot be read; or [`Fault::Stopped`].
pub fn check_consistency(tables: &Tables, seeds: usize, pulse: &Pulse) -> Result<u64, Fault> {
    let table = tables.require(seeds)?;
    for frame in layer_frames(tables.pits(), seeds) {
        if !tables.rules().relays() {
            let first_wrong = FrameCheck::new(tables, frame, pulse).map_err(Fault::from);
            match first_wrong.and_then(|check| check.first_wrong()) {
                Ok(None) => continue,
                Ok(Some((mover, other))) => {
                    let rows = tables.rows();
                    BoundSet::new(tables, &[])
                        .check_position(&rows.unrank(frame.mover, mover), &rows.unrank(frame.other, other))?;
                }
                Err(fault @ Fault::Stopped(_)) => return Err(fault),
                // The first position that needs a damaged block is found below, if there is one.
                Err(_) => {}
            }
        }
        check_frame(tables, frame, pulse)?;
    }
    Ok(table.header().positions)
}

/// Checks every position of a frame by itself.
fn check_frame(tables: &Tables, frame: Frame, pulse: &Pulse) -> Result<(), Fault> {
    let rows = tables.rows();
    let all = |seeds| (0..rows.rows(seeds) as u32).into_par_iter().map(move |rank| rows.unrank(seeds, rank));
    let movers: Vec<TableRow> = all(frame.mover).collect();
    let all_exact = BoundSet::new(tables, &[]);
    // Each task has one other row, in rank order, so the first fault found is the first by rank.
    let fault = all(frame.other).find_map_first(|other| {
        if let Err(stopped) = pulse.check() {
            return Some(stopped.into());
        }
        let fault = movers.iter().find_map(|mover| all_exact.check_position(mover, &other).err());
        pulse.positions.fetch_add(movers.len() as u64, Ordering::Relaxed);
        fault
    });
    fault.map_or(Ok(()), Err)
}

/// The same as [`check_consistency`] for the positions of `sample`, which is from a layer of
/// `tables`. Returns the number of positions checked.
///
/// # Errors
/// As [`check_consistency`], for the positions of the sample.
pub fn check_sample(tables: &Tables, sample: &Sample, pulse: &Pulse) -> Result<u64, Fault> {
    tables.require(sample.seeds())?;
    BoundSet::new(tables, &[]).check(sample, pulse)
}

/// Exact tables of the lower layers of a board and bound tables of others, for checks by the
/// reference oracle.
#[derive(Debug)]
pub struct BoundSet<'a> {
    exact: &'a Tables,
    bounds: &'a [Arc<BoundTable>],
}

impl<'a> BoundSet<'a> {
    /// Combines these tables of one board. The bound tables may be in any order, with any networks.
    pub fn new(exact: &'a Tables, bounds: &'a [Arc<BoundTable>]) -> BoundSet<'a> {
        BoundSet { exact, bounds }
    }

    /// The bound table to read for a layer; `None` if it has an exact one.
    fn layer(&self, seeds: usize) -> Option<&BoundTable> {
        if self.exact.layer(seeds).is_some() {
            return None;
        }
        self.bounds.iter().find(|table| table.key().seeds == seeds).map(|table| &**table)
    }

    /// Returns true if every layer from 2 to `seeds` seeds has an exact or a bound table.
    pub fn reaches(&self, seeds: usize) -> bool {
        (2..=seeds).all(|seeds| self.exact.layer(seeds).is_some() || self.layer(seeds).is_some())
    }

    /// Checks that the scores or bounds of the positions of `sample` agree with those of the positions after their
    /// moves: some score lies within both. Returns the number of positions, which `pulse` counts while it runs.
    ///
    /// If a layer has an exact and a bound table, the exact one is read.
    ///
    /// # Errors
    /// The first fault by rank in the layer, or the one that caused it; or damage; or [`Fault::Stopped`].
    ///
    /// # Panics
    /// When the layer, or one below it, has neither table.
    pub fn check(&self, sample: &Sample, pulse: &Pulse) -> Result<u64, Fault> {
        let rows = self.exact.rows();
        sample.check(|frame, index| {
            let (mover, other) = frame.ranks(index);
            pulse.check()?;
            pulse.positions.fetch_add(1, Ordering::Relaxed);
            self.check_position(&rows.unrank(frame.mover, mover), &rows.unrank(frame.other, other))
        })
    }

    /// Checks one position. If its score or bounds are wrong because a child's are, reports that child instead, and so
    /// on. Beside bound tables, exact scores are not doubted.
    fn check_position(&self, mover: &TableRow, other: &TableRow) -> Result<(), Fault> {
        let table = self.layer(row_seeds(mover) + row_seeds(other));
        if table.is_none() && !self.bounds.is_empty() {
            return Ok(());
        }
        let oracle = Oracle::new(self.exact.rules(), self.exact.pits()).expect("pits of a table");
        let stored = self.bounds(mover, other)?;
        let right = oracle.minimax_bounds(mover, other, |mover, other| self.bounds(mover, other))?;
        if stored.0.max(right.0) <= stored.1.min(right.1) {
            return Ok(());
        }
        // A child may be the cause. A score of 0 for all others lists the children without looking them
        // up.
        let mut children = Vec::new();
        oracle.minimax(mover, other, |mover, other| {
            children.push((*mover, *other));
            Ok::<u8, Fault>(0)
        })?;
        children.iter().try_for_each(|(mover, other)| self.check_position(mover, other))?;
        let (key, rows) = (self.exact.key(row_seeds(mover) + row_seeds(other)), self.exact.rows());
        let Some(table) = table else { return Err(Fault::score(key, mover, other, stored.0, right.0)) };
        let offset = table.code_at(row_seeds(mover), rows.rank(mover), rows.rank(other));
        let (path, position) = (table.path().to_owned(), position(key, mover, other));
        let [stored, right] = [stored, right].map(|(lower, upper)| Bounds { lower: lower.into(), upper: upper.into() });
        Err(Fault::Bounds { path, key, offset, position, stored, right })
    }

    /// Bounds of the score of a position with seeds in both rows, from its table or bound table.
    fn bounds(&self, mover: &TableRow, other: &TableRow) -> Result<(u8, u8), TableError> {
        let (mover_seeds, seeds) = (row_seeds(mover), row_seeds(mover) + row_seeds(other));
        let rows = self.exact.rows();
        match self.layer(seeds) {
            Some(table) => {
                let code = table.code(mover_seeds, rows.rank(mover), rows.rank(other))?;
                let evaluation = table.network().evaluate(mover, other, seeds as u32);
                let Bounds { lower, upper } = table.bounds_of(mover_seeds, code, evaluation);
                Ok((lower as u8, upper as u8))
            }
            None => self.exact.score_rows(mover, other).map(|score| (score, score)),
        }
    }
}

/// Positions that are checked together.
const BATCH: usize = 1 << 20;

/// Minimum number of positions of every frame, its first and last among them; all if the frame has
/// fewer.
const LEAST: u64 = 3;

/// A sample of the positions of a layer: of every frame the first and last position, and random
/// ones between them, in proportion to the frame's size.
///
/// The positions between the first and last one are divided into runs of equal length, and one
/// position of each run is chosen. So no position is chosen twice, they are spread over the whole
/// frame, and they are in order, which is best for mapped tables.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    key: TableKey,
    positions: u64,
    count: u64,
    source: u64,
}

impl Sample {
    /// Makes a sample of at least `count` positions of the layer `key`, or all if it has fewer. It
    /// exceeds `count` by at most 3 positions per frame. The same `source` gives the same sample.
    pub fn new(key: TableKey, count: u64, source: u64) -> Sample {
        let positions = key.frames().map(Frame::positions).sum();
        Sample { key, positions, count: count.min(positions), source }
    }

    /// Seeds in play in the layer.
    pub fn seeds(&self) -> usize {
        self.key.seeds
    }

    /// All frames of the layer, in rank order.
    pub fn frames(&self) -> impl Iterator<Item = Frame> + use<> {
        layer_frames(self.key.pits, self.key.seeds)
    }

    /// Number of positions chosen.
    pub fn positions(&self) -> u64 {
        self.frames().map(|frame| self.chosen(frame)).sum()
    }

    /// Number of positions of `frame` that are chosen.
    fn chosen(&self, frame: Frame) -> u64 {
        let positions = frame.positions();
        let share = (u128::from(self.count) * u128::from(positions)).div_ceil(u128::from(self.positions));
        (share as u64).max(LEAST).min(positions)
    }

    /// Chosen positions of `frame`, by their index in it, ascending.
    pub fn indices(&self, frame: Frame) -> impl Iterator<Item = u64> + use<> {
        let (positions, chosen) = (frame.positions(), self.chosen(frame));
        let mut random = generator(mixed(self.source) ^ (self.key.seeds << 8 | frame.mover) as u64);
        let last = positions - 1;
        // There are no more runs than positions between the ends, so no run is empty.
        let runs = chosen.saturating_sub(2);
        let start = move |run: u64| 1 + (u128::from(run) * u128::from(last - 1) / u128::from(runs)) as u64;
        let inner = (0..runs).map(move |run| random.u64(start(run)..start(run + 1)));
        [0].into_iter().chain(inner).chain((last > 0).then_some(last))
    }

    /// Checks all positions chosen, on the threads of the current pool, by frame and index. Returns
    /// their number.
    ///
    /// # Errors
    /// The error of `check` for the first position in order.
    pub(super) fn check<F: Send>(&self, check: impl Fn(Frame, u64) -> Result<(), F> + Sync) -> Result<u64, F> {
        let mut positions = 0;
        for frame in self.frames() {
            let mut chosen = self.indices(frame);
            loop {
                // In order, so that neighbours read the same pages.
                let batch: Vec<u64> = chosen.by_ref().take(BATCH).collect();
                if batch.is_empty() {
                    break;
                }
                if let Some(fault) = batch.par_iter().find_map_first(|&index| check(frame, index).err()) {
                    return Err(fault);
                }
                positions += batch.len() as u64;
            }
        }
        Ok(positions)
    }
}
