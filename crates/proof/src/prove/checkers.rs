use std::path::{Path, PathBuf};

use kalah_core::cancel::Cancel;
use kalah_core::game::{Position, Rules};
use kalah_core::table::{TableError, Tables};
use kalah_solve::bounds::Claim;
use parking_lot::Mutex;
use rayon::prelude::*;

use super::claims::Claims;
use super::directory::ProofDirectory;
use super::error::ProveError;
use super::request::ProofPlan;
use super::test::Test;
use crate::certificate::{Checker, Goal, Statement};

/// Checkers for the threads of a process. They search tests again, and check certificates as `kalah check`
/// does.
#[derive(Debug)]
pub struct Checkers<'a> {
    rules: Rules,
    pits: usize,
    tables: Option<&'a Tables>,
    table_seeds: usize,
    effort: u32,
    idle: Mutex<Vec<Checker<'a>>>,
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

    /// Searches a test again. Returns the answer, or `None` if the effort does not suffice.
    ///
    /// # Errors
    /// If a table cannot be read.
    pub(crate) fn research(&self, test: &Test) -> Result<Option<bool>, TableError> {
        Ok(self.with_checker(|checker| checker.reaches(&test.position, test.score))?.reached)
    }

    /// Checks that a statement of the proof follows from these claims, and every claim, on all threads.
    ///
    /// # Errors
    /// If a bound does not follow, the statement is true of every game, a table cannot be read, or `cancel` is
    /// cancelled.
    pub(crate) fn check(&self, statement: &Statement, claims: &Claims, cancel: &Cancel) -> Result<(), ProveError> {
        let goals = statement.goals()?;
        if goals.is_empty() {
            return Err(ProveError::trivial(&statement.position));
        }
        goals.iter().try_for_each(|goal| self.goal(goal, claims))?;
        self.claims(claims, claims, false, cancel)
    }

    /// Checks that a goal follows from the `known` claims.
    fn goal(&self, goal: &Goal, known: &Claims) -> Result<(), ProveError> {
        let reason = self.with_checker(|checker| goal.reason(checker, &|position| known.get(position)))?;
        let unproved = || ProveError::Unproved { position: Box::new(goal.position), bound: goal.bound };
        reason.map(drop).ok_or_else(unproved)
    }

    /// Checks that each of these claims follows by a search, or in one ply from the `known` ones, on all threads. If
    /// they must follow `as_stated`, those that a search should show may not follow from others.
    fn claims(&self, claims: &Claims, known: &Claims, as_stated: bool, cancel: &Cancel) -> Result<(), ProveError> {
        claims.parts().into_par_iter().try_for_each(|mut part| {
            self.with_checker(|checker| {
                part.try_for_each(|Claim { position, bounds }| {
                    for bound in (Claim { position, bounds }).parts() {
                        let is_alone = as_stated && claims.is_searched(&position, bound);
                        let known = |position: &Position| known.get(position).filter(|_| !is_alone);
                        if checker.reason(&position, bound, &known)?.is_none() {
                            return Err(ProveError::Unproved { position: Box::new(position), bound });
                        }
                    }
                    Ok(cancel.check()?)
                })
            })
        })
    }

    /// The files of wrong jobs: those that state something that does not follow.
    ///
    /// A complete file with the right checksum may still be wrong: it was computed wrongly, or edited. A
    /// contradiction or a check of the certificate reveals that such a file exists, but not which one it is. A job is
    /// right if its answer and each of its claims follow by a search, or in one ply from the claims of all jobs. It is
    /// not wrong because its claims follow from wrong ones. Without the wrong ones these claims are found again, or
    /// turn out to be wrong themselves.
    ///
    /// # Errors
    /// If a job or a table cannot be read, or the check is stopped.
    pub(super) fn wrong_jobs(&self, directory: &ProofDirectory, cancel: &Cancel) -> Result<Vec<PathBuf>, ProveError> {
        // Another process may remove a job meanwhile.
        let read = |path: &Path| match directory.read(path) {
            Err(ProveError::State(error)) if error.is_missing() => Ok(None),
            job => job.map(|(job, claims)| Some((Claim { position: job.test.position, bounds: job.bounds? }, claims))),
        };
        let paths = directory.job_paths()?;
        let mut all = Claims::new(self.pits);
        for path in &paths {
            all.extend(read(path)?.map_or(Claims::new(self.pits), |(_, claims)| claims));
        }
        let mut wrong = Vec::new();
        for path in paths {
            let Some((answer, claims)) = read(&path)? else { continue };
            let goal = |bound| Goal { opening: None, position: answer.position, bound };
            let mut answers = answer.parts().map(goal);
            match answers
                .try_for_each(|goal| self.goal(&goal, &all))
                .and_then(|()| self.claims(&claims, &all, true, cancel))
            {
                Err(ProveError::Unproved { .. }) => wrong.push(path),
                follows => follows?,
            }
        }
        Ok(wrong)
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
