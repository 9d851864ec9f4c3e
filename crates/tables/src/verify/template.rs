use kalah_core::index::{RowIndex, TableRow};

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

/// All rows with the same number of seeds, changed by a move of the other player. Rows to which the change does
/// not apply are left out.
#[derive(Debug)]
pub(super) struct ChangedRows {
    /// By the seeds captured from the facing pit.
    pub parts: Vec<TablePart>,
}

/// Rows from which the same number of seeds is captured.
#[derive(Debug)]
pub(super) struct TablePart {
    /// Seeds captured that the facing pit held before the move.
    pub captured: u8,
    /// Seeds in each changed row.
    pub seeds: u8,
    /// The rows.
    pub ranks: Ranks,
}

/// Ranks of rows before and after a change.
#[derive(Debug)]
pub(super) enum Ranks {
    /// Each row stays the same.
    Same,
    /// Rank after the change, by rank before it.
    All(Vec<u32>),
    /// Some rows: ranks before the change, ascending, and after it.
    Some {
        /// Ranks before the change.
        before: Vec<u32>,
        /// Ranks after it.
        after: Vec<u32>,
    },
}

impl ChangedRows {
    /// Changes `all` rows with a number of seeds, which are in rank order.
    pub(super) fn new(rows: &RowIndex, all: &[TableRow], change: &Change) -> ChangedRows {
        let held = all.first().map_or(0, seeds);
        let added = seeds(&change.add);
        if change.facing == Facing::Any {
            let ranks = if added == 0 {
                Ranks::Same
            } else {
                Ranks::All(all.iter().map(|row| rows.rank(&sum(row, &change.add))).collect())
            };
            return ChangedRows { parts: vec![TablePart { captured: 0, seeds: held + added, ranks }] };
        }
        let mut parts: Vec<(Vec<u32>, Vec<u32>)> = vec![Default::default(); usize::from(held) + 1];
        for (row, before) in all.iter().zip(0..) {
            let mut changed = sum(row, &change.add);
            let captured = match change.facing {
                Facing::Captured(pit) => std::mem::take(&mut changed[usize::from(pit)]),
                Facing::CapturedIfHeld(pit) if row[usize::from(pit)] > 0 => {
                    std::mem::take(&mut changed[usize::from(pit)])
                }
                Facing::LeftIfEmpty(pit) if row[usize::from(pit)] == 0 => 0,
                _ => continue,
            };
            let part = &mut parts[usize::from(captured)];
            part.0.push(before);
            part.1.push(rows.rank(&changed));
        }
        let part = |(captured, (before, after)): (u8, (Vec<u32>, Vec<u32>))| TablePart {
            captured,
            seeds: held + added - captured,
            ranks: Ranks::Some { before, after },
        };
        let parts = (0..).zip(parts).filter(|(_, (before, _))| !before.is_empty());
        ChangedRows { parts: parts.map(part).collect() }
    }
}

/// The row with the seeds of both.
fn sum(row: &TableRow, add: &TableRow) -> TableRow {
    std::array::from_fn(|pit| row[pit] + add[pit])
}
