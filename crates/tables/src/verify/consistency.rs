use std::sync::atomic::Ordering;

use kalah_base::progress::Pulse;
use kalah_base::random::{generator, mixed};
use kalah_core::index::{Frame, TableRow, layer_frames, row_seeds};
use kalah_core::table::{TableKey, Tables};
use rayon::prelude::*;

use super::frame_check::FrameCheck;
use super::{Fault, Oracle};

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
                    check_position(tables, &rows.unrank(frame.mover, mover), &rows.unrank(frame.other, other))?;
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
    // Each task has one other row, in rank order, so the first fault found is the first by rank.
    let fault = all(frame.other).find_map_first(|other| {
        if let Err(stopped) = pulse.check() {
            return Some(stopped.into());
        }
        let fault = movers.iter().find_map(|mover| check_position(tables, mover, &other).err());
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
    let rows = tables.rows();
    sample.check(|frame, index| {
        let (mover, other) = frame.ranks(index);
        pulse.check()?;
        pulse.positions.fetch_add(1, Ordering::Relaxed);
        check_position(tables, &rows.unrank(frame.mover, mover), &rows.unrank(frame.other, other))
    })
}

/// Checks one position. If its score is wrong because a child's is, reports that child instead, and
/// so on.
fn check_position(tables: &Tables, mover: &TableRow, other: &TableRow) -> Result<(), Fault> {
    let oracle = Oracle::new(tables.rules(), tables.pits()).expect("pits of a table");
    let stored = tables.score_rows(mover, other)?;
    let right = oracle.minimax(mover, other, |mover, other| tables.score_rows(mover, other))?;
    if stored == right {
        return Ok(());
    }
    // A child may be the cause. A score of 0 for all others lists the children without looking them
    // up.
    let mut children = Vec::new();
    oracle.minimax(mover, other, |mover, other| {
        children.push((*mover, *other));
        Ok::<u8, Fault>(0)
    })?;
    children.iter().try_for_each(|(mover, other)| check_position(tables, mover, other))?;
    Err(Fault::score(tables.key(row_seeds(mover) + row_seeds(other)), mover, other, stored, right))
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
