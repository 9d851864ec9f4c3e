use kalah_base::random::{generator, mixed};
use kalah_core::index::{Frame, layer_frames};
use kalah_core::table::TableKey;
use rayon::prelude::*;

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
