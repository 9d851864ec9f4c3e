use crate::index::Frame;
use crate::table::TableKey;

/// Positions of every frame that are chosen at least, its ends among them; all of a frame that has no more.
const LEAST: u64 = 3;

/// A choice of positions of a layer that visits every frame: its first and its last position, and random ones between
/// them in proportion to its positions.
///
/// What lies between the ends of a frame is cut into as many runs of equal length as there are positions to choose, and one
/// is chosen from each: none comes twice, they are spread over the whole frame, and they are in order, which tables that are
/// mapped into memory need.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    key: TableKey,
    positions: u64,
    count: u64,
    source: u64,
}

impl Sample {
    /// A choice of at least `count` positions of the layer `key`, or of all if it has no more; `source` makes the choice
    /// repeatable. What is more than `count` is at most 3 positions a frame.
    pub fn new(key: TableKey, count: u64, source: u64) -> Sample {
        let positions = key.frames().map(Frame::positions).sum();
        Sample { key, positions, count: count.min(positions), source }
    }

    /// Seeds in play in the layer.
    pub fn seeds(&self) -> usize {
        self.key.seeds
    }

    /// The frames, all those of the layer, in the order of their ranks.
    pub fn frames(&self) -> impl Iterator<Item = Frame> + use<> {
        let TableKey { pits, seeds, .. } = self.key;
        (1..seeds).map(move |mover| Frame { pits, mover, other: seeds - mover })
    }

    /// How many positions are chosen.
    pub fn positions(&self) -> u64 {
        self.frames().map(|frame| self.chosen(frame)).sum()
    }

    /// How many positions of `frame` are chosen.
    fn chosen(&self, frame: Frame) -> u64 {
        let positions = frame.positions();
        let share = (u128::from(self.count) * u128::from(positions)).div_ceil(u128::from(self.positions));
        (share as u64).max(LEAST).min(positions)
    }

    /// The positions of `frame` that are chosen, by their index in it, ascending.
    pub fn indices(&self, frame: Frame) -> impl Iterator<Item = u64> + use<> {
        let (positions, chosen) = (frame.positions(), self.chosen(frame));
        let mut random = fastrand::Rng::with_seed(self.source ^ (self.key.seeds << 8 | frame.mover) as u64);
        let last = positions - 1;
        // No longer than what is between the ends, so no run is empty.
        let runs = chosen.saturating_sub(2);
        let start = move |run: u64| 1 + (u128::from(run) * u128::from(last - 1) / u128::from(runs)) as u64;
        let inner = (0..runs).map(move |run| random.u64(start(run)..start(run + 1)));
        [0].into_iter().chain(inner).chain((last > 0).then_some(last))
    }
}
