use std::path::{Path, PathBuf};

use kalah_core::cancel::Cancel;
use kalah_core::game::{Position, Rules};
use kalah_core::table::{TableError, Tables};
use kalah_solve::solve::Solver;
use parking_lot::Mutex;
use rayon::prelude::*;

use super::claims::Claims;
use super::directory::{Job, ProofDirectory};
use super::error::ProveError;
use super::request::ProofPlan;
use super::test::{Reply, Test};
use crate::certificate::{Checker, Statement};

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
        let unproved = |position: Position, bound| ProveError::Unproved { position: Box::new(position), bound };
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

/// Finds jobs of a directory whose files state something that does not follow.
///
/// A complete file with the right checksum may still be wrong: it was computed wrongly, or edited. A
/// contradiction or a check of the certificate reveals that such a file exists, but not which one it is.
pub(super) struct JobChecker<'a, 's> {
    pub directory: &'a ProofDirectory,
    /// Only its tables are used.
    pub solver: &'a Solver<'s>,
    pub checkers: &'a Checkers<'s>,
    pub cancel: &'a Cancel,
}

impl JobChecker<'_, '_> {
    /// The files of the wrong jobs.
    ///
    /// A job is right if its answer and each of its claims follow as stated: from a re-search, or in one ply
    /// from the claims of all jobs. A job is not wrong because its claims follow from wrong ones. Without the
    /// wrong ones these claims are found again, or turn out to be wrong themselves.
    ///
    /// # Errors
    /// If a job or a table cannot be read, or the check is stopped.
    pub(crate) fn wrong_jobs(&self) -> Result<Vec<PathBuf>, ProveError> {
        let mut all = Claims::new(self.directory.plan().request.position.pits());
        let paths = self.directory.job_paths()?;
        for path in &paths {
            if let Some((Job { bounds: Some(_), .. }, claims)) = self.read(path)? {
                all.extend(claims);
            }
        }
        let mut wrong = Vec::new();
        for path in paths {
            if let Some((job, claims)) = self.read(&path)?
                && !self.is_right(&job, &claims, &all)?
            {
                wrong.push(path);
            }
        }
        Ok(wrong)
    }

    /// Reads a job; `None` if another process has removed it meanwhile.
    fn read(&self, path: &Path) -> Result<Option<(Job, Claims)>, ProveError> {
        match self.directory.read(path) {
            Err(ProveError::State(error)) if error.is_missing() => Ok(None),
            job => job.map(Some),
        }
    }

    fn is_right(&self, job: &Job, claims: &Claims, all: &Claims) -> Result<bool, ProveError> {
        let Some(bounds) = job.bounds else { return Ok(true) };
        let Some(answer) = job.test.decided_by(bounds) else { return Ok(false) };
        if !self.is_known(&job.test, answer, all)? {
            return Ok(false);
        }
        let answers: Vec<_> = claims.answers().collect();
        let wrong = answers.par_iter().map(|(test, answer, searched)| self.follows(test, *answer, *searched, all));
        match wrong.find_any(|follows| !matches!(follows, Ok(true))) {
            Some(Err(error)) => Err(error),
            found => Ok(found.is_none()),
        }
    }

    /// Returns true if a claim follows as its job states. A claim stated to follow in one ply, but from a job
    /// whose file was deleted, may also follow from a re-search.
    fn follows(&self, test: &Test, answer: bool, searched: bool, all: &Claims) -> Result<bool, ProveError> {
        self.cancel.check()?;
        if !searched && self.follows_in_one_ply(test, answer, all)? {
            return Ok(true);
        }
        Ok(self.checkers.research(test)? == Some(answer))
    }

    fn follows_in_one_ply(&self, test: &Test, answer: bool, all: &Claims) -> Result<bool, ProveError> {
        for reply in test.replies(self.solver.rules()) {
            // True if the reply has the answer that is needed: of one reply for a test that succeeds, else of
            // all.
            let has_answer = match reply {
                Reply::Certain(certain) => certain == answer,
                Reply::Test { test, same } => self.is_known(&test, same == answer, all)?,
            };
            if has_answer == answer {
                return Ok(answer);
            }
        }
        Ok(!answer)
    }

    /// Returns true if a test certainly has this answer, is claimed to have it, or has it by a table.
    fn is_known(&self, test: &Test, answer: bool, all: &Claims) -> Result<bool, ProveError> {
        if let Some(certain) = test.certain() {
            return Ok(certain == answer);
        }
        if test.position.seeds() as usize <= self.directory.plan().table_seeds() {
            return Ok(test.decided_by(self.solver.known(&test.position)?) == Some(answer));
        }
        Ok(all.gives(test, answer))
    }
}
