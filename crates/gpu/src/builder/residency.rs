//! Selects the lower frames to keep when not all fit: those that are read again soonest.
//!
//! The reads of a layer and their order are fixed in advance. The frame whose next use is farthest
//! away is dropped, which is optimal for frames of equal size (Belady 1966).

use std::cmp::Reverse;
use std::collections::HashMap;

use kalah_core::index::Frame;

/// Next step of a frame that the layer does not read again.
const NEVER: u32 = u32::MAX;

/// The steps in which a layer reads each lower frame. A layer has one step for each of its frames.
#[derive(Debug, Default)]
pub(super) struct ReadSteps {
    /// Steps by frame, ascending.
    steps: HashMap<Frame, Vec<u32>>,
}

impl ReadSteps {
    /// Collects the frames that each step reads; a frame may occur several times.
    pub(super) fn new<F: IntoIterator<Item = Frame>>(frames: impl IntoIterator<Item = F>) -> ReadSteps {
        let mut reads = ReadSteps::default();
        for (step, frames) in (0..).zip(frames) {
            for frame in frames {
                let steps = reads.steps.entry(frame).or_default();
                if steps.last() != Some(&step) {
                    steps.push(step);
                }
            }
        }
        reads
    }

    /// First step from `step` on that reads a frame.
    fn next(&self, frame: Frame, step: u32) -> u32 {
        let Some(steps) = self.steps.get(&frame) else { return NEVER };
        steps.get(steps.partition_point(|&other| other < step)).copied().unwrap_or(NEVER)
    }
}

/// A frame that is kept.
#[derive(Debug)]
struct Resident<T> {
    held: T,
    bytes: u64,
    /// Step of its next read.
    next: u32,
}

/// The frames that are kept, each with the object that holds it.
#[derive(Debug)]
pub(super) struct Residency<T> {
    frames: HashMap<Frame, Resident<T>>,
    bytes: u64,
    reads: ReadSteps,
    step: u32,
    /// Among frames with the same next step, or none, those with the largest rank give way first.
    rank: fn(Frame) -> i64,
}

impl<T> Residency<T> {
    /// Starts without frames.
    pub(super) fn new(rank: fn(Frame) -> i64) -> Residency<T> {
        Residency { frames: HashMap::new(), bytes: 0, reads: ReadSteps::default(), step: 0, rank }
    }

    /// Bytes of all frames.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Begins a layer with these reads.
    pub(super) fn plan(&mut self, reads: ReadSteps) {
        (self.reads, self.step) = (reads, 0);
        for (frame, resident) in &mut self.frames {
            resident.next = self.reads.next(*frame, 0);
        }
    }

    /// Begins a step of the layer.
    pub(super) fn begin(&mut self, step: u32) {
        self.step = step;
    }

    /// Returns the object that holds a frame that is read now, if it is kept.
    pub(super) fn read(&mut self, frame: Frame) -> Option<&T> {
        let resident = self.frames.get_mut(&frame)?;
        resident.next = self.reads.next(frame, self.step + 1);
        Some(&resident.held)
    }

    /// Bytes of a frame, if it is kept.
    pub(super) fn bytes_of(&self, frame: Frame) -> Option<u64> {
        self.frames.get(&frame).map(|resident| resident.bytes)
    }

    /// All frames and their bytes, in the order in which they give way: the last to be read first.
    fn latest(&self) -> impl Iterator<Item = (Frame, u64)> {
        let key = |(frame, resident): (&Frame, &Resident<T>)| {
            ((resident.next, (self.rank)(*frame)), frame.mover, *frame, resident.bytes)
        };
        let mut latest: Vec<_> = self.frames.iter().map(key).collect();
        latest.sort_unstable_by_key(|&(order, mover, _, _)| Reverse((order, mover)));
        latest.into_iter().map(|(_, _, frame, bytes)| (frame, bytes))
    }

    /// Frames that should give way to `frame`, which takes `bytes` more than fit. `frame` is read
    /// now, or belongs to the current layer. `None` if `frame` itself should not be kept.
    pub(super) fn yielding(&self, frame: Frame, bytes: u64) -> Option<Vec<Frame>> {
        let own = (self.reads.next(frame, self.step + 1), (self.rank)(frame));
        let later = self.latest().take_while(|(frame, _)| (self.frames[frame].next, (self.rank)(*frame)) > own);
        let mut freed = 0;
        let enough = later.take_while(|(_, own)| {
            let more = freed < bytes;
            freed += if more { *own } else { 0 };
            more
        });
        let yielding = enough.map(|(frame, _)| frame).collect();
        (freed >= bytes).then_some(yielding)
    }

    /// Keeps a frame that is read now, or belongs to the current layer.
    pub(super) fn insert(&mut self, frame: Frame, held: T, bytes: u64) {
        let next = self.reads.next(frame, self.step + 1);
        self.remove(frame);
        self.frames.insert(frame, Resident { held, bytes, next });
        self.bytes += bytes;
    }

    /// Drops a frame.
    pub(super) fn remove(&mut self, frame: Frame) {
        self.bytes -= self.frames.remove(&frame).map_or(0, |resident| resident.bytes);
    }

    /// Drops all frames of the lowest layer. Returns true if there was one.
    pub(super) fn remove_lowest(&mut self) -> bool {
        let layer = |frame: &Frame| frame.mover + frame.other;
        let lowest = self.frames.keys().map(layer).min();
        let removed: Vec<Frame> = self.frames.keys().copied().filter(|frame| Some(layer(frame)) == lowest).collect();
        removed.iter().for_each(|&frame| self.remove(frame));
        lowest.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(mover: usize, other: usize) -> Frame {
        Frame { pits: 6, mover, other }
    }

    #[test]
    fn what_is_read_last_gives_way_first() {
        let reads =
            [(frame(1, 1), vec![0, 5]), (frame(1, 2), vec![0, 9]), (frame(2, 1), vec![0]), (frame(1, 3), vec![0])];
        let mut residency = Residency::new(|frame| -((frame.mover + frame.other) as i64));
        residency.plan(ReadSteps { steps: reads.into_iter().collect() });
        for (mover, other) in [(1, 1), (1, 2), (2, 1), (1, 3)] {
            residency.insert(frame(mover, other), (), 10);
        }
        assert_eq!(residency.bytes(), 40);
        // Frames that are not read again give way first, of the lowest layer first; then the last
        // to be read.
        residency.reads.steps.insert(frame(3, 3), vec![0, 7]);
        assert_eq!(residency.yielding(frame(3, 3), 1), Some(vec![frame(2, 1)]));
        assert_eq!(residency.yielding(frame(3, 3), 30), Some(vec![frame(2, 1), frame(1, 3), frame(1, 2)]));
        assert_eq!(residency.yielding(frame(3, 3), 31), None, "what is read sooner stays");
        // A frame of this layer displaces only frames that the layer does not read.
        assert_eq!(residency.yielding(frame(4, 4), 21), None);
        assert_eq!(residency.yielding(frame(4, 4), 20), Some(vec![frame(2, 1), frame(1, 3)]));
        residency.begin(9);
        assert!(residency.read(frame(1, 2)).is_some() && residency.read(frame(3, 3)).is_none());
        assert_eq!(residency.yielding(frame(4, 4), 20), Some(vec![frame(2, 1), frame(1, 2)]));
        assert!(residency.remove_lowest());
        assert_eq!(residency.bytes(), 30);
    }

    #[test]
    fn a_frame_is_counted_once_a_step() {
        let reads = ReadSteps::new([vec![frame(1, 1), frame(1, 2), frame(1, 1)], vec![], vec![frame(1, 1)]]);
        assert_eq!([0, 1, 3].map(|step| reads.next(frame(1, 1), step)), [0, 2, NEVER]);
        assert_eq!([0, 1].map(|step| reads.next(frame(1, 2), step)), [0, NEVER]);
    }
}
