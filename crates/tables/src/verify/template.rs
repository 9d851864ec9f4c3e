use kalah_core::index::TableRow;

use super::oracle::{Oracle, Played, seeds};

/// Seeds in each pit of the marked other row: more than a move can add.
const MARK: u8 = 100;

/// A move of one mover's row, against every other row that meets the condition of its [`Change`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Template {
    /// The mover's row after the move.
    pub left: TableRow,
    /// Seeds in `left`.
    pub left_seeds: u8,
    /// Seeds stored, except those that the facing pit held before the move if it is captured.
    pub stored: u8,
    /// True if the last seed gives another move.
    pub again: bool,
    /// Change of the other row.
    pub change: Change,
}

/// Change of the other row by a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Change {
    /// Seeds added to each pit that is not captured.
    pub add: TableRow,
    /// The pit on which the move depends.
    pub facing: Facing,
}

/// A pit of the other row, by its state before the move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Facing {
    /// No pit is captured.
    Any,
    /// The move captures this pit, even an empty one.
    Captured(u8),
    /// The move captures this pit, which must hold seeds.
    CapturedIfHeld(u8),
    /// This pit must be empty, and nothing is captured.
    LeftIfEmpty(u8),
}

/// Templates of the move of `pit`, which must not be empty, under rules without relays. Exactly one applies to
/// each other row.
///
/// The oracle plays the move twice: against an empty row, and against a row with many seeds in each pit. The
/// seeds that it adds do not depend on the other row. At most one pit of the other row decides whether the move
/// captures, namely by being empty or not.
///
/// # Panics
/// If the two games differ in another way: the rules need more templates.
pub(super) fn templates(oracle: &Oracle, mover: &TableRow, pit: usize) -> impl Iterator<Item = Template> {
    let pits = oracle.pits();
    let mut marked = TableRow::default();
    marked[..pits].fill(MARK);
    let bare = oracle.play(mover, &TableRow::default(), pit);
    let held = oracle.play(mover, &marked, pit);
    // A captured pit is left empty; all others keep their mark.
    let captured = (0..pits).find(|&pit| held.opposite[pit] == 0);
    let mut add = TableRow::default();
    for pit in (0..pits).filter(|&pit| Some(pit) != captured) {
        add[pit] = held.opposite[pit] - MARK;
    }
    let taken = captured.map_or(0, |_| MARK);
    assert!(!(held.again && captured.is_some()), "a move that captures ends the turn");
    let template = |played: &Played, stored, facing| Template {
        left: played.left,
        left_seeds: seeds(&played.left),
        stored,
        again: played.again,
        change: Change { add, facing },
    };
    // The same game, but for the seeds of the captured pit.
    let is_alike = Played { opposite: add, stored: held.stored - taken, ..held } == bare;
    let (first, second) = match captured.map(|pit| pit as u8) {
        None => {
            assert!(is_alike, "a move without a capture does not depend on the other row");
            (template(&held, held.stored, Facing::Any), None)
        }
        Some(pit) if is_alike => (template(&held, bare.stored, Facing::Captured(pit)), None),
        Some(pit) => {
            assert!(bare.opposite == add && !bare.again, "only the facing pit decides about a capture");
            let left = template(&bare, bare.stored, Facing::LeftIfEmpty(pit));
            (template(&held, held.stored - taken, Facing::CapturedIfHeld(pit)), Some(left))
        }
    };
    [Some(first), second].into_iter().flatten()
}
