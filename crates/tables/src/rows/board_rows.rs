use std::fmt;
use std::sync::Arc;

use kalah_core::game::Rules;
use kalah_core::index::RowIndex;

use super::maps::{Cache, RowMaps};
use super::moves::Moves;

/// Moves and maps of the rows of a board, for all layers: made on first use and kept.
pub struct BoardRows {
    /// The rule set.
    pub rules: Rules,
    /// Changes of row ranks when seeds are added.
    pub maps: RowMaps,
    moves: Cache<usize, Moves>,
}

impl BoardRows {
    /// Prepares the moves and maps of the rows that `rows` ranks.
    pub fn new(rules: Rules, rows: Arc<RowIndex>) -> BoardRows {
        BoardRows { rules, maps: RowMaps::new(rows), moves: Cache::default() }
    }

    /// The moves of the rows with `seeds` seeds.
    pub(crate) fn moves(&self, seeds: usize) -> Arc<Moves> {
        self.moves.get(seeds, || Moves::new(self.rules, &self.maps, seeds))
    }
}

impl fmt::Debug for BoardRows {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter
            .debug_struct("BoardRows")
            .field("rules", &self.rules)
            .field("maps", &self.maps)
            .finish_non_exhaustive()
    }
}
