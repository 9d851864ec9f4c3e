//! Which frames of lower layers stay on the device when not all fit: those that are read again soonest.
//!
//! What a layer reads, and in which order, is known before it is computed. So of two frames the one whose next reading is
//! later gives way, which is the best that can be done for frames of equal size (Belady 1966); of those that the layer does
//! not read again, the ones of the lowest layer.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use kalah_core::game::Rules;
use kalah_core::index::{Frame, RowIndex, TableRow};
use kalah_tables::rows::Moves;

use super::lists::{ClassKey, ClassKind};

/// A frame that the layer does not read again.
const NEVER: u32 = u32::MAX;

/// When a layer reads the frames of lower layers, in steps: two for each pair, one for each of its frames.
#[derive(Debug, Default)]
pub(super) struct ReadSteps {
    /// Ascending.
    steps: HashMap<Frame, Vec<u32>>,
}

impl ReadSteps {
    /// What the pairs of these frames, whose smaller sides move, read.
    pub fn of(rules: Rules, rows: &RowIndex, pairs: impl IntoIterator<Item = Frame>) -> ReadSteps {
        let mut keys: HashMap<usize, BTreeSet<ClassKey>> = HashMap::new();
        let mut reads = ReadSteps::default();
        for (pair, small) in (0..).zip(pairs) {
            for (side, frame) in (0..).zip([small, small.mirrored()]) {
                let step = 2 * pair + side;
                let keys = keys.entry(frame.mover).or_insert_with(|| class_keys(rules, rows, frame.mover));
                for &(kind, spilled, left) in keys.iter() {
                    for (_, child) in kind.children(frame, spilled, left).2 {
                        let steps = reads.steps.entry(child).or_default();
                        if child.mover > 0 && child.other > 0 && steps.last() != Some(&step) {
                            steps.push(step);
                        }
                    }
                }
            }
        }
        reads
    }

    /// The first step from `step` on in which a frame is read.
    fn next(&self, frame: Frame, step: u32) -> u32 {
        let Some(steps) = self.steps.get(&frame) else { return NEVER };
        steps.get(steps.partition_point(|&other| other < step)).copied().unwrap_or(NEVER)
    }
}

/// The classes of the moves of all rows with `seeds` seeds, without listing these moves: what a move does to the numbers
/// of seeds depends on its pit and, for captures, on whether another one is empty; so rows with at most two pits that are
/// not empty have moves of all classes. With relays there are more, which read nothing that relays do not read.
fn class_keys(rules: Rules, rows: &RowIndex, seeds: usize) -> BTreeSet<ClassKey> {
    let (mut forward, mut quiet) = (Vec::new(), Vec::new());
    for pit in 0..rows.pits() {
        for rest in 0..rows.pits() {
            for hand in 1..=seeds {
                let mut row = TableRow::default();
                row[pit] = hand as u8;
                row[rest] += (seeds - hand) as u8;
                Moves::of_row(rules, rows, &row, &mut forward, &mut quiet);
            }
        }
    }
    forward.iter().map(ClassKind::of).collect()
}

/// A frame that stays.
#[derive(Debug)]
struct Resident<T> {
    held: T,
    bytes: u64,
    /// The step in which it is read next.
    next: u32,
}

/// The frames that stay, each with what holds it.
#[derive(Debug)]
pub(super) struct Residency<T> {
    frames: HashMap<Frame, Resident<T>>,
    reads: ReadSteps,
    step: u32,
}

impl<T> Residency<T> {
    /// None yet.
    pub fn new() -> Residency<T> {
        Residency { frames: HashMap::new(), reads: ReadSteps::default(), step: 0 }
    }

    /// Bytes of all of them.
    pub fn bytes(&self) -> u64 {
        self.frames.values().map(|frame| frame.bytes).sum()
    }

    /// Begins a layer that reads this.
    pub fn plan(&mut self, reads: ReadSteps) {
        (self.reads, self.step) = (reads, 0);
        for (frame, resident) in &mut self.frames {
            resident.next = self.reads.next(*frame, 0);
        }
    }

    /// Begins a step of the layer.
    pub fn begin(&mut self, step: u32) {
        self.step = step;
    }

    /// What holds a frame that is read now, if it stays.
    pub fn read(&mut self, frame: Frame) -> Option<&T> {
        let resident = self.frames.get_mut(&frame)?;
        resident.next = self.reads.next(frame, self.step + 1);
        Some(&resident.held)
    }

    /// The frames that should give way to `frame`, which takes `bytes` more than there is room for; it is read now, or of
    /// this layer. `None` if it should not stay itself.
    pub fn yielding(&self, frame: Frame, bytes: u64) -> Option<Vec<Frame>> {
        let own = (self.reads.next(frame, self.step + 1), Reverse(frame.mover + frame.other));
        let mut later: Vec<_> = (self.frames.iter())
            .map(|(frame, resident)| ((resident.next, Reverse(frame.mover + frame.other)), *frame, resident.bytes))
            .filter(|(order, _, _)| *order > own)
            .collect();
        later.sort_unstable_by_key(|&(order, frame, _)| Reverse((order, frame.mover)));
        let mut freed = 0;
        let enough = later.iter().take_while(|(_, _, own)| {
            let more = freed < bytes;
            freed += if more { *own } else { 0 };
            more
        });
        let yielding = enough.map(|(_, frame, _)| *frame).collect();
        (freed >= bytes).then_some(yielding)
    }

    /// Lets a frame stay that is read now, or of this layer.
    pub fn insert(&mut self, frame: Frame, held: T, bytes: u64) {
        let next = self.reads.next(frame, self.step + 1);
        self.frames.insert(frame, Resident { held, bytes, next });
    }

    /// Lets a frame stay no longer.
    pub fn remove(&mut self, frame: Frame) {
        self.frames.remove(&frame);
    }

    /// Lets no frame of the lowest layer stay any longer; returns whether there was one.
    pub fn remove_lowest(&mut self) -> bool {
        let lowest = self.frames.keys().map(|frame| frame.mover + frame.other).min();
        self.frames.retain(|frame, _| Some(frame.mover + frame.other) != lowest);
        lowest.is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use super::super::lists::list_moves;
    use super::*;
    use kalah_tables::rows::RowMaps;

    #[test]
    fn classes_are_those_of_the_moves() {
        for rules in Rules::ALL {
            for (pits, most) in [(1, 40), (2, 40), (3, 32), (4, 22), (5, 15), (6, 14), (7, 9), (8, 8)] {
                let maps = RowMaps::new(Arc::new(RowIndex::new(pits, most)));
                for seeds in 1..=most {
                    let classes = list_moves(rules, &maps, seeds).1.classes;
                    let listed = classes.iter().map(|class| (class.kind, class.spilled, class.left)).collect();
                    let found = class_keys(rules, maps.rows(), seeds);
                    let children = |keys: &BTreeSet<ClassKey>| -> HashSet<Frame> {
                        let frame = Frame { pits, mover: seeds, other: 5 };
                        let children = |&(kind, spilled, left): &ClassKey| kind.children(frame, spilled, left).2;
                        keys.iter().flat_map(children).map(|(_, child)| child).collect()
                    };
                    assert_eq!(children(&found), children(&listed), "{rules}, {pits} pits, {seeds} seeds");
                    assert!(found == listed || rules.relays(), "{rules}, {pits} pits, {seeds} seeds");
                }
            }
        }
    }

    fn frame(mover: usize, other: usize) -> Frame {
        Frame { pits: 6, mover, other }
    }

    #[test]
    fn what_is_read_last_gives_way_first() {
        let reads =
            [(frame(1, 1), vec![0, 5]), (frame(1, 2), vec![0, 9]), (frame(2, 1), vec![0]), (frame(1, 3), vec![0])];
        let mut residency = Residency::new();
        residency.plan(ReadSteps { steps: reads.into_iter().collect() });
        for (mover, other) in [(1, 1), (1, 2), (2, 1), (1, 3)] {
            residency.insert(frame(mover, other), (), 10);
        }
        assert_eq!(residency.bytes(), 40);
        // What is not read again, of the lowest layer first; then what is read latest.
        let steps = ReadSteps { steps: HashMap::from([(frame(3, 3), vec![0, 7])]) }.steps;
        residency.reads.steps.extend(steps);
        assert_eq!(residency.yielding(frame(3, 3), 1), Some(vec![frame(2, 1)]));
        assert_eq!(residency.yielding(frame(3, 3), 30), Some(vec![frame(2, 1), frame(1, 3), frame(1, 2)]));
        assert_eq!(residency.yielding(frame(3, 3), 31), None, "what is read sooner stays");
        // A frame of this layer makes only those give way that it does not read.
        assert_eq!(residency.yielding(frame(4, 4), 21), None);
        assert_eq!(residency.yielding(frame(4, 4), 20), Some(vec![frame(2, 1), frame(1, 3)]));
        residency.begin(9);
        assert!(residency.read(frame(1, 2)).is_some() && residency.read(frame(3, 3)).is_none());
        assert_eq!(residency.yielding(frame(4, 4), 20), Some(vec![frame(2, 1), frame(1, 2)]));
        assert!(residency.remove_lowest());
        assert_eq!(residency.bytes(), 30);
    }
}
