//! Selects the decompressed frames to keep in memory. Plans and builds use the same rules.

use kalah_core::game::Rules;
use kalah_core::index::Frame;

use super::dependencies::lower_frames;
use super::residency::{ReadSteps, Residency};
use crate::table::PackedFrame;

/// The frames of archived layers in memory, each with the object that holds it.
///
/// The steps of a layer are its frames, in the order in which they are computed.
#[derive(Debug)]
pub struct FrameCache<T> {
    rules: Rules,
    /// Seeds of the first archived layer.
    first: usize,
    budget: u64,
    residency: Residency<T>,
    /// Number of steps begun.
    begun: u32,
}

/// Approximate maximum bytes of a decompressed frame in memory.
pub fn frame_bytes(frame: Frame) -> u64 {
    PackedFrame::most_bytes(frame)
}

/// Frames of archived layers, those from `first` seeds up, from which `step` is computed.
pub fn archived_frames(rules: Rules, first: usize, step: Frame) -> Vec<Frame> {
    lower_frames(rules, step).into_iter().filter(|frame| frame.mover + frame.other >= first).collect()
}

/// Steps of a layer: the frames computed one after the other for pairs with these seeds in the
/// rows.
pub fn steps(pits: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Vec<Frame> {
    let both = pairs.into_iter().flat_map(|(small, large)| {
        let frame = Frame { pits, mover: small, other: large };
        [Some(frame), (small < large).then_some(frame.mirrored())]
    });
    both.flatten().collect()
}

impl<T> FrameCache<T> {
    /// Makes an empty cache of at most `budget` bytes for the layers from `first` seeds up.
    pub fn new(rules: Rules, first: usize, budget: u64) -> FrameCache<T> {
        // Large frames give way first.
        let residency = Residency::new(|frame| frame.positions() as i64);
        FrameCache { rules, first, budget, residency, begun: 0 }
    }

    /// Begins a layer, or the rest of it, with these steps.
    pub fn begin(&mut self, steps: &[Frame]) {
        let frames = steps.iter().map(|&step| archived_frames(self.rules, self.first, step));
        self.residency.plan(ReadSteps::new(frames));
        self.begun = 0;
    }

    /// Makes space for the frames from which the next step, `step`, is computed. Exceeds the budget
    /// only if that step alone does. Returns the missing frames, in the order of layers and of the
    /// files; they must be inserted.
    pub fn advance(&mut self, step: Frame) -> Vec<Frame> {
        self.residency.begin(self.begun);
        self.begun += 1;
        let mut missing = archived_frames(self.rules, self.first, step);
        let now = missing.clone();
        missing.retain(|&frame| self.residency.read(frame).is_none());
        missing.sort_by_key(|frame| (frame.mover + frame.other, frame.mover.min(frame.other), frame.mover));
        let mut bytes = self.residency.bytes() + missing.iter().map(|&frame| frame_bytes(frame)).sum::<u64>();
        if bytes > self.budget {
            let latest: Vec<_> = self.residency.latest().filter(|(frame, _)| !now.contains(frame)).collect();
            for (frame, own) in latest {
                if bytes <= self.budget {
                    break;
                }
                self.residency.remove(frame);
                bytes -= own;
            }
        }
        missing
    }

    /// Adds a frame that was missing.
    pub fn insert(&mut self, frame: Frame, held: T) {
        self.residency.insert(frame, held, frame_bytes(frame));
    }

    /// Returns the object that holds a frame, if the frame is in memory.
    pub fn get(&self, frame: Frame) -> Option<&T> {
        self.residency.get(frame)
    }
}
