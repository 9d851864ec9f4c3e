use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::moves::Moves;
use crate::game::Rules;
use crate::index::{RowIndex, RowMaps};
use crate::isa::Isa;

/// What computing needs to know of the rows of a board, whatever the layer: made when first asked for, and kept.
pub struct Evaluator {
    pub(super) isa: Isa,
    pub(super) rules: Rules,
    pub(super) maps: RowMaps,
    moves: Mutex<HashMap<usize, Arc<Moves>>>,
}

impl Evaluator {
    /// An evaluator for the rows that `rows` ranks.
    pub fn new(isa: Isa, rules: Rules, rows: Arc<RowIndex>) -> Evaluator {
        Evaluator { isa, rules, maps: RowMaps::new(rows), moves: Mutex::default() }
    }

    /// The moves of the rows with `seeds` seeds.
    pub(super) fn moves(&self, seeds: usize) -> Arc<Moves> {
        let get = || self.moves.lock().unwrap_or_else(PoisonError::into_inner).get(&seeds).cloned();
        get().unwrap_or_else(|| {
            // Made outside the lock, which a thread that helps with the making may need.
            let made = Arc::new(Moves::new(self.rules, &self.maps, seeds));
            self.moves.lock().unwrap_or_else(PoisonError::into_inner).insert(seeds, Arc::clone(&made));
            made
        })
    }
}
