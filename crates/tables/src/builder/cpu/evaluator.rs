use std::sync::Arc;

use kalah_core::game::Rules;
use kalah_core::index::RowIndex;
use kalah_core::isa::Isa;

use crate::rows::{BoardRows, Relays};

/// Data for evaluating moves in any layer: an instruction set, and the moves and maps of rows.
#[derive(Debug)]
pub struct Evaluator {
    pub(super) isa: Isa,
    pub(super) rows: BoardRows,
    /// Present for rules with relays.
    pub(super) relays: Option<Relays>,
}

impl Evaluator {
    /// Makes an evaluator for the rows that `rows` ranks.
    pub fn new(isa: Isa, rules: Rules, rows: Arc<RowIndex>) -> Evaluator {
        let relays = rules.relays().then(|| Relays::new(rules, &rows));
        Evaluator { isa, rows: BoardRows::new(rules, rows), relays }
    }
}
