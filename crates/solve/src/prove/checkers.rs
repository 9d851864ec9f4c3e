use std::fmt;

use kalah_core::cancel::Cancel;
use kalah_core::game::{Position, Rules};
use kalah_tables::table::{TableError, Tables};
use parking_lot::Mutex;
use rayon::prelude::*;

use super::error::ProveError;
use super::plan::Plan;
use super::test::Test;
use crate::certificate::{Certificate, Checker, Claim};

/// Claims that a thread checks at a time.
const CLAIMS_PER_TASK: usize = 16;

/// Claims that all threads check at a time. Their positions take more memory than the claims themselves.
const CLAIMS_PER_BATCH: usize = 1 << 16;

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
        let Checkers { rules, pits, table_seeds, effort, .. } = self;
        let mut text = f.debug_struct("Checkers");
        text.field("rules", rules).field("pits", pits).field("table_seeds", table_seeds).field("effort", effort);
        text.finish_non_exhaustive()
    }
}

impl<'a> Checkers<'a> {
    /// Checkers of the claims of a proof, which rests on `tables`.
    ///
    /// # Panics
    /// If `tables` are for another board or too few, or the effort is above [`Checker::MAX_EFFORT`].
    pub fn new(plan: &Plan, tables: Option<&'a Tables>) -> Checkers<'a> {
        let (rules, pits) = (plan.request.rules, plan.request.position.pits());
        let (table_seeds, effort) = (plan.table_seeds(), plan.effort);
        let first = Checker::new(rules, pits, tables, table_seeds, effort);
        Checkers { rules, pits, tables, table_seeds, effort, idle: Mutex::new(vec![first]) }
    }

    /// Searches a test again. Returns the answer, or `None` if the effort does not suffice, and the number of
    /// nodes.
    ///
    /// # Errors
    /// If a table cannot be read.
    pub fn research(&self, test: &Test) -> Result<(Option<bool>, u64), TableError> {
        let found = self.with_checker(|checker| checker.reaches(&test.position, test.score));
        found.map(|research| (research.reached, research.nodes))
    }

    /// Checks the statement and every claim of a certificate of the proof, on all threads.
    ///
    /// # Errors
    /// If a bound does not follow, the statement is true of every game, a table cannot be read, or `cancel` is
    /// cancelled.
    pub fn check(&self, certificate: &Certificate, cancel: &Cancel) -> Result<(), ProveError> {
        let Certificate { head, claims } = certificate;
        let unproved = |position: Position, bound| ProveError::Unproved { position: Box::new(position), bound };
        let goals = head.statement.goals()?;
        if goals.is_empty() {
            return Err(ProveError::trivial(&head.statement.position));
        }
        for goal in goals {
            if self.with_checker(|checker| goal.reason(checker, claims))?.is_none() {
                return Err(unproved(goal.position, goal.bound));
            }
        }
        let known = |position: &Position| claims.get(position);
        let check = |checker: &mut Checker, claim: &Claim| {
            for bound in claim.parts() {
                if checker.reason(&claim.position, bound, &known)?.is_none() {
                    return Err(unproved(claim.position, bound));
                }
            }
            Ok(cancel.check()?)
        };
        let mut rest = claims.iter();
        loop {
            let batch: Vec<Claim> = rest.by_ref().take(CLAIMS_PER_BATCH).collect();
            if batch.is_empty() {
                return Ok(());
            }
            batch.par_chunks(CLAIMS_PER_TASK).try_for_each(|claims| {
                self.with_checker(|checker| claims.iter().try_for_each(|claim| check(checker, claim)))
            })?;
        }
    }

    /// Calls `work` with a checker for this thread alone.
    fn with_checker<T>(&self, work: impl FnOnce(&mut Checker<'a>) -> T) -> T {
        let idle = self.idle.lock().pop();
        let mut checker =
            idle.unwrap_or_else(|| Checker::new(self.rules, self.pits, self.tables, self.table_seeds, self.effort));
        let done = work(&mut checker);
        self.idle.lock().push(checker);
        done
    }
}
