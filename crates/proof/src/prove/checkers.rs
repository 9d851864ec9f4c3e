use std::path::PathBuf;

use kalah_base::progress::Pulse;
use kalah_core::cancel::Cancel;
use kalah_core::game::Position;
use kalah_core::table::TableError;
use kalah_solve::bounds::Claim;
use kalah_solve::solve::Solver;
use rayon::prelude::*;

use super::claims::Claims;
use super::directory::{Job, ProofDirectory};
use super::error::ProveError;
use super::test::{Reply, Test};
use crate::certificate::{CheckTally, Checkers, PART_CLAIMS, Statement, check_claims, check_goals};

/// Searches a test again. Returns the answer, or `None` if the effort does not suffice.
///
/// # Errors
/// If a table cannot be read.
pub(super) fn research(checkers: &Checkers, test: &Test) -> Result<Option<bool>, TableError> {
    Ok(checkers.with(|checker| checker.reaches(&test.position, test.score))?.reached)
}

/// Checks that a statement of the proof follows from these claims, and every claim, on all threads.
///
/// # Errors
/// If a bound does not follow, the statement is true of every game, a table cannot be read, or `cancel` is
/// cancelled.
pub(super) fn check(
    checkers: &Checkers,
    statement: &Statement,
    claims: &Claims,
    cancel: &Cancel,
) -> Result<(), ProveError> {
    let goals = statement.goals()?;
    if goals.is_empty() {
        return Err(ProveError::trivial(&statement.position));
    }
    let known = |position: &Position| claims.get(position);
    check_goals(checkers, &goals, &known)?;
    let (mut left, mut done, pulse) = (claims.iter(), CheckTally::default(), Pulse::new(cancel.clone()));
    loop {
        let part: Vec<Claim> = left.by_ref().take(PART_CLAIMS).collect();
        if part.is_empty() {
            return Ok(());
        }
        check_claims(checkers, part.into_par_iter(), &known, &mut done, &pulse)?;
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
    pub(super) fn wrong_jobs(&self) -> Result<Vec<PathBuf>, ProveError> {
        let mut all = Claims::new(self.directory.plan().request.position.pits());
        let paths = self.directory.job_paths()?;
        for path in &paths {
            if let Some((Job { answer: Some(_), .. }, claims)) = self.directory.read(path)? {
                all.extend(claims);
            }
        }
        let mut wrong = Vec::new();
        for path in paths {
            if let Some((job, claims)) = self.directory.read(&path)?
                && !self.is_right(&job, &claims, &all)?
            {
                wrong.push(path);
            }
        }
        Ok(wrong)
    }

    fn is_right(&self, job: &Job, claims: &Claims, all: &Claims) -> Result<bool, ProveError> {
        let Some(answer) = job.answer else { return Ok(true) };
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
        Ok(research(self.checkers, test)? == Some(answer))
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
