use std::sync::Arc;

use super::moves::Moves;
use crate::game::Rules;
use crate::index::{Cache, RowIndex, RowMaps};
use crate::isa::Isa;

/// What computing needs to know of the rows of a board, whatever the layer: made when first asked for, and kept.
pub struct Evaluator {
    pub(super) isa: Isa,
    pub(in crate::build) rules: Rules,
    pub(in crate::build) maps: RowMaps,
    moves: Cache<usize, Moves>,
}

impl Evaluator {
    /// An evaluator for the rows that `rows` ranks.
    pub fn new(isa: Isa, rules: Rules, rows: Arc<RowIndex>) -> Evaluator {
        Evaluator { isa, rules, maps: RowMaps::new(rows), moves: Cache::default() }
    }

    /// The moves of the rows with `seeds` seeds.
    pub(in crate::build) fn moves(&self, seeds: usize) -> Arc<Moves> {
        self.moves.get(seeds, || Moves::new(self.rules, &self.maps, seeds))
    }
}
