use std::fmt;
use std::sync::{Mutex, PoisonError};

use super::plan::Plan;
use super::test::Test;
use crate::certificate::Checker;
use crate::game::Rules;
use crate::table::{TableError, Tables};

/// Checkers for the threads of a process, which search tests again as `kalah check` does.
pub struct Checkers<'a> {
    rules: Rules,
    pits: usize,
    tables: Option<&'a Tables>,
    table_seeds: usize,
    effort: u32,
    idle: Mutex<Vec<Checker<'a>>>,
}

impl fmt::Debug for Checkers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Checkers { rules, pits, table_seeds, effort, .. } = self;
        let mut text = f.debug_struct("Checkers");
        text.field("rules", rules).field("pits", pits).field("table_seeds", table_seeds).field("effort", effort);
        text.finish_non_exhaustive()
    }
}

impl<'a> Checkers<'a> {
    /// Checkers of the claims of a proof, which reads the tables that it rests on from `tables`.
    ///
    /// # Panics
    /// When `tables` are for another board or too few, or the effort is above [`Checker::MAX_EFFORT`].
    pub fn new(plan: &Plan, tables: Option<&'a Tables>) -> Checkers<'a> {
        let (rules, pits) = (plan.request.rules, plan.request.position.pits());
        let (table_seeds, effort) = (plan.table_seeds(), plan.effort);
        let first = Checker::new(rules, pits, tables, table_seeds, effort);
        Checkers { rules, pits, tables, table_seeds, effort, idle: Mutex::new(vec![first]) }
    }

    /// Searches a test again: the answer, `None` if it takes more nodes than the effort allows; and the nodes.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn research(&self, test: &Test) -> Result<(Option<bool>, u64), TableError> {
        let lock = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = lock().pop();
        let mut checker =
            idle.unwrap_or_else(|| Checker::new(self.rules, self.pits, self.tables, self.table_seeds, self.effort));
        let found = checker.reaches(&test.position, test.score);
        lock().push(checker);
        found.map(|research| (research.reached, research.nodes))
    }
}
