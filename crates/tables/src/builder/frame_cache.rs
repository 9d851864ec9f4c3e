//! Which unpacked frames are kept in memory: a plan and a build decide alike.

use std::collections::HashMap;

use kalah_core::game::Rules;
use kalah_core::index::Frame;

use super::dependencies::lower_frames;
use crate::table::PackedFrame;

/// The frames of archived layers that are in memory, and when each is needed again.
///
/// The steps of a layer are its frames, in the order in which they are computed. What is needed is known for all of them, so
/// where there is not enough memory for everything, the frame that is needed last is given up.
#[derive(Debug)]
pub struct FrameCache {
    rules: Rules,
    /// Seeds of the first layer that is an archive.
    first: usize,
    budget: u64,
    used: u64,
    held: HashMap<Frame, u64>,
    /// The steps of the layer that need a frame.
    uses: HashMap<Frame, Vec<usize>>,
    step: usize,
}

/// What a step changes.
#[derive(Debug, Default)]
pub struct Change {
    /// Frames to give up first.
    pub dropped: Vec<Frame>,
    /// Frames to unpack then, in the order of layers and of the files.
    pub added: Vec<Frame>,
}

/// About the most bytes that an unpacked frame takes in memory.
pub fn frame_bytes(frame: Frame) -> u64 {
    PackedFrame::most_bytes(frame)
}

/// The steps of a layer: the frames that are computed one after the other for pairs with these seeds in the rows.
pub fn steps(pits: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Vec<Frame> {
    let both = pairs.into_iter().flat_map(|(small, large)| {
        let frame = Frame { pits, mover: small, other: large };
        [Some(frame), (small < large).then_some(frame.mirrored())]
    });
    both.flatten().collect()
}

impl FrameCache {
    /// An empty cache of at most `budget` bytes for the layers from `first` seeds up.
    pub fn new(rules: Rules, first: usize, budget: u64) -> FrameCache {
        FrameCache { rules, first, budget, used: 0, held: HashMap::new(), uses: HashMap::new(), step: 0 }
    }

    /// The frames of archives that `step` needs.
    pub fn dependencies(&self, step: Frame) -> Vec<Frame> {
        let dependencies = lower_frames(self.rules, step).into_iter();
        dependencies.filter(|frame| frame.mover + frame.other >= self.first).collect()
    }

    /// Begins a layer, or the rest of it, with these steps.
    pub fn begin(&mut self, steps: &[Frame]) {
        self.uses.clear();
        self.step = 0;
        for (number, &step) in steps.iter().enumerate() {
            for frame in self.dependencies(step) {
                self.uses.entry(frame).or_default().push(number);
            }
        }
    }

    /// Makes everything there that the next step, which must be `step`, needs; more than the budget only if it needs more.
    pub fn advance(&mut self, step: Frame) -> Change {
        let dependencies = self.dependencies(step);
        let now = self.step;
        self.step += 1;
        let mut added: Vec<Frame> =
            dependencies.iter().copied().filter(|frame| !self.held.contains_key(frame)).collect();
        // In the order of the files.
        added.sort_by_key(|frame| (frame.mover + frame.other, frame.mover.min(frame.other), frame.mover));
        let more = added.iter().map(|&frame| frame_bytes(frame)).sum::<u64>();
        let dropped = self.make_room(more, |uses| uses.contains(&now));
        for &frame in &added {
            let bytes = frame_bytes(frame);
            self.used += bytes;
            self.held.insert(frame, bytes);
        }
        Change { dropped, added }
    }

    /// Gives up frames, those that are needed last first, until there is room for `more` bytes; none that are needed `now`.
    fn make_room(&mut self, more: u64, now: impl Fn(&[usize]) -> bool) -> Vec<Frame> {
        if self.used + more <= self.budget {
            return Vec::new();
        }
        let uses = |frame: &Frame| self.uses.get(frame).map_or(&[][..], |uses| uses);
        let next = |frame: &Frame| uses(frame).iter().copied().find(|&use_at| use_at >= self.step);
        let mut victims: Vec<Frame> = self.held.keys().copied().filter(|frame| !now(uses(frame))).collect();
        victims.sort_by_key(|frame| (next(frame).unwrap_or(usize::MAX), frame.positions(), frame.mover));
        let mut dropped = Vec::new();
        while self.used + more > self.budget
            && let Some(victim) = victims.pop()
        {
            self.used -= self.held.remove(&victim).unwrap_or(0);
            dropped.push(victim);
        }
        dropped
    }
}
