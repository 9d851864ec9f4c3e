use std::sync::Arc;

use kalah_core::game::Rules;
use kalah_core::index::{RowIndex, TableRow, row_count};
use kalah_solve::solve::Sower;
use kalah_tables::rows::{Moves, RowMaps};

/// Rows of a board with up to some number of seeds. All layers share their maps and moves.
pub(super) struct GraphRows {
    pub maps: RowMaps,
    /// The moves of the rows, by their seeds.
    pub moves: Vec<Moves>,
    /// Number of moves of each row: its pits that hold seeds.
    pub choices: Vec<Vec<u8>>,
    /// The rows, by their seeds and ranks.
    pub all: Vec<Arc<Vec<TableRow>>>,
    pub sower: Sower<u64>,
}

impl GraphRows {
    /// Makes the maps and moves of the rows that `rows` ranks.
    pub(crate) fn new(rules: Rules, rows: Arc<RowIndex>, total: usize) -> GraphRows {
        let pits = rows.pits();
        let maps = RowMaps::new(rows);
        let all: Vec<_> = (0..=total).map(|seeds| maps.all(seeds)).collect();
        let choices = |rows: &Arc<Vec<TableRow>>| {
            rows.iter().map(|row| row.iter().filter(|&&seeds| seeds > 0).count() as u8).collect()
        };
        GraphRows {
            moves: (0..=total).map(|seeds| Moves::new(rules, &maps, seeds)).collect(),
            choices: all.iter().map(choices).collect(),
            all,
            maps,
            sower: Sower::new(rules, pits, total).expect("the board of tables"),
        }
    }

    /// Maximum bytes of the maps of a board's rows; the positions are extra.
    pub(crate) fn bytes(pits: usize, total: usize) -> u64 {
        let rows = |seeds: usize| row_count(pits, seeds) as u64;
        // A spill maps every row to 4 bytes and marks the targets; so does a capture of each pit. A move takes
        // about 8 bytes in lists.
        let of_row = |seeds: usize| {
            let spills: u64 = (0..=total - seeds).map(|spilled| 4 * rows(seeds) + rows(seeds + spilled) / 8).sum();
            spills + rows(seeds) * (4 * pits as u64 + 8 * pits as u64 + 12)
        };
        (0..=total).map(of_row).sum()
    }
}
