//! Classes of moves, and the frames that they lead to. They determine a layer's reads of lower
//! layers.

use std::collections::{BTreeSet, HashMap};

use kalah_core::game::Rules;
use kalah_core::index::{Frame, RowIndex, TableRow};
use kalah_tables::rows::{ForwardMove, Kind, Moves};

use super::residency::ReadSteps;
use super::stages::Stage;

/// The kind of a class of moves. It determines the stage, and the frames that the moves lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ClassKind {
    Pass,
    Again,
    Capture,
    Relay,
}

/// Properties shared by a class of moves: the kind, the seeds sown into the other row, and the
/// seeds left in the mover's.
pub(super) type ClassKey = (ClassKind, usize, usize);

/// A frame that a stage reads, with its number in the stage's list.
pub(super) type Child = (usize, Frame);

impl ClassKind {
    /// Returns the class of a move.
    pub(super) fn of(next: &ForwardMove) -> ClassKey {
        let kind = match next.kind {
            Kind::Pass => ClassKind::Pass,
            Kind::Again => ClassKind::Again,
            Kind::Capture { .. } => ClassKind::Capture,
            // The destination of the seeds depends on the other row.
            Kind::Relay { .. } => return (ClassKind::Relay, 0, 0),
        };
        (kind, usize::from(next.spilled), usize::from(next.left))
    }

    /// Returns the stage of a class of moves of a frame, the length of its list of frames, and the
    /// frames with their numbers.
    pub(super) fn children(self, frame: Frame, spilled: usize, left: usize) -> (Stage, usize, Vec<Child>) {
        let Frame { pits, mover, other } = frame;
        let opponent = other + spilled;
        let child = |mover, other| Frame { pits, mover, other };
        match self {
            ClassKind::Pass => (Stage::ForwardPass, 1, vec![(0, child(opponent, left))]),
            ClassKind::Again => (Stage::ForwardAgain, 1, vec![(0, child(left, opponent))]),
            ClassKind::Capture => {
                let children = (0..=opponent).map(|captured| (captured, child(opponent - captured, left)));
                (Stage::ForwardCapture, opponent + 1, children.collect())
            }
            ClassKind::Relay => {
                let total = mover + other;
                let pairs = (0..total).flat_map(|to_move| (0..total - to_move).map(move |waiting| (to_move, waiting)));
                let children = pairs.map(|(to_move, waiting)| (to_move * total + waiting, child(to_move, waiting)));
                (Stage::ForwardRelay, total * total, children.collect())
            }
        }
    }
}

/// Selects the frames that are in files. The others are finished games.
fn in_files(children: Vec<Child>) -> impl Iterator<Item = Frame> {
    children.into_iter().map(|(_, child)| child).filter(|child| child.mover > 0 && child.other > 0)
}

/// Reads of the pairs of these frames, in which the smaller side moves: two steps for each pair,
/// one for each of its frames.
pub(super) fn read_steps(rules: Rules, rows: &RowIndex, pairs: impl IntoIterator<Item = Frame>) -> ReadSteps {
    let mut keys: HashMap<usize, BTreeSet<ClassKey>> = HashMap::new();
    let steps = pairs.into_iter().flat_map(|small| [small, small.mirrored()]);
    ReadSteps::new(steps.map(|frame| {
        let keys = keys.entry(frame.mover).or_insert_with(|| class_keys(rules, rows, frame.mover));
        let children = |&(kind, spilled, left): &ClassKey| in_files(kind.children(frame, spilled, left).2);
        keys.iter().flat_map(children).collect::<Vec<Frame>>()
    }))
}

/// Classes of the moves of all rows with `seeds` seeds, without listing these moves.
///
/// The numbers of seeds that a move sows and leaves depend on its pit and, for captures, on whether
/// another pit is empty. So rows with at most two non-empty pits have moves of all classes. With
/// relays there are more classes, but they read nothing that relays do not read.
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use super::super::lists::list_moves;
    use super::*;
    use kalah_tables::builder::lower_frames;
    use kalah_tables::rows::RowMaps;

    const BOARDS: [(usize, usize); 8] = [(1, 40), (2, 40), (3, 32), (4, 22), (5, 15), (6, 14), (7, 9), (8, 8)];

    #[test]
    fn classes_are_those_of_the_moves() {
        for rules in Rules::ALL {
            for (pits, most) in BOARDS {
                let maps = RowMaps::new(Arc::new(RowIndex::new(pits, most).unwrap()));
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

    /// There are two exceptions. A device has the frame without a capture for each class of
    /// captures, even if no such capture exists. The CPU has the frame with one seed fewer in the
    /// mover's row.
    #[test]
    fn a_device_reads_what_the_cpu_reads() {
        for rules in Rules::ALL {
            for (pits, most) in BOARDS {
                let rows = RowIndex::new(pits, most).unwrap();
                for frame in (1..most).map(|mover| Frame { pits, mover, other: most - mover }) {
                    let keys = class_keys(rules, &rows, frame.mover);
                    let children = |kinds: fn(&&ClassKey) -> bool, captured: std::ops::Range<usize>| {
                        let keys = keys.iter().filter(kinds).copied().collect::<Vec<_>>();
                        let all = keys.into_iter().flat_map(|(kind, spilled, left)| {
                            let children = kind.children(frame, spilled, left).2;
                            let few = captured.clone();
                            in_files(children.into_iter().filter(|(number, _)| few.contains(number)).collect())
                        });
                        all.collect::<HashSet<Frame>>()
                    };
                    let all = children(|_| true, 0..usize::MAX);
                    let uncaptured = children(|key| key.0 == ClassKind::Capture, 0..1);
                    let lower: HashSet<Frame> = lower_frames(rules, frame).into_iter().collect();
                    let fewer = Frame { mover: frame.mover - 1, ..frame };
                    assert!(lower.difference(&all).all(|child| *child == fewer), "{rules} {frame:?}");
                    assert!(all.difference(&lower).all(|child| uncaptured.contains(child)), "{rules} {frame:?}");
                }
            }
        }
    }
}
