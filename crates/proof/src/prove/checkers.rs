use std::fmt;

use kalah_core::cancel::Cancel;
use kalah_core::game::{Position, Rules};
use kalah_core::table::{TableError, Tables};
use parking_lot::Mutex;
use rayon::prelude::*;

use super::claims::Claims;
use super::error::ProveError;
use super::plan::ProofPlan;
use super::test::Test;
use crate::certificate::{Checker, Statement};

/// Checkers for the threads of a process. They search tests again, and check certificates as `kalah check`
/// does.
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
        f.debug_struct("Checkers").field("rules", &self.rules).field("effort", &self.effort).finish_non_exhaustive()
    }
}

impl<'a> Checkers<'a> {
    /// Checkers of the claims of a proof, which rests on `tables`.
    ///
    /// # Panics
    /// If `tables` are for another board or too few, or the effort is above [`Checker::MAX_EFFORT`].
    pub fn new(plan: &ProofPlan, tables: Option<&'a Tables>) -> Checkers<'a> {
        let (rules, pits) = (plan.request.rules, plan.request.position.pits());
        let (table_seeds, effort) = (plan.table_seeds(), plan.effort);
        let first = Checker::new(rules, pits, tables, table_seeds, effort).expect("tables and effort of the plan");
        Checkers { rules, pits, tables, table_seeds, effort, idle: Mutex::new(vec![first]) }
    }

    /// Searches a test again. Returns the answer, or `None` if the effort does not suffice, and the number of
    /// nodes.
    ///
    /// # Errors
    /// If a table cannot be read.
    pub(crate) fn research(&self, test: &Test) -> Result<(Option<bool>, u64), TableError> {
        let found = self.with_checker(|checker| checker.reaches(&test.position, test.score));
        found.map(|research| (research.reached, research.nodes))
    }

    /// Checks that a statement of the proof follows from these claims, and every claim, on all threads.
    ///
    /// # Errors
    /// If a bound does not follow, the statement is true of every game, a table cannot be read, or `cancel` is
    /// cancelled.
    pub(crate) fn check(&self, statement: &Statement, claims: &Claims, cancel: &Cancel) -> Result<(), ProveError> {
        let unproved = |position: Position, bound| ProveError::Unproved { position: Box::new(position), bound };
        let goals = statement.goals()?;
        if goals.is_empty() {
            return Err(ProveError::trivial(&statement.position));
        }
        let known = |position: &Position| claims.get(position);
        for goal in goals {
            if self.with_checker(|checker| goal.reason(checker, &known))?.is_none() {
                return Err(unproved(goal.position, goal.bound));
            }
        }
        claims.parts().into_par_iter().try_for_each(|mut part| {
            self.with_checker(|checker| {
                part.try_for_each(|claim| {
                    for bound in claim.parts() {
                        if checker.reason(&claim.position, bound, &known)?.is_none() {
                            return Err(unproved(claim.position, bound));
                        }
                    }
                    Ok(cancel.check()?)
                })
            })
        })
    }

    /// Calls `work` with a checker for this thread alone.
    fn with_checker<T>(&self, work: impl FnOnce(&mut Checker<'a>) -> T) -> T {
        let idle = self.idle.lock().pop();
        let checker = idle.or_else(|| Checker::new(self.rules, self.pits, self.tables, self.table_seeds, self.effort));
        let mut checker = checker.expect("the first was made alike");
        let done = work(&mut checker);
        self.idle.lock().push(checker);
        done
    }
}
