use kalah_core::index::{RowIndex, TableRow};

use super::oracle::seeds;
use super::template::{Change, Facing};

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
