use std::path::{Path, PathBuf};

use kalah_core::cancel::Cancel;
use rayon::prelude::*;

use super::claims::Claims;
use super::directory::{Job, ProofDirectory};
use super::error::ProveError;
use super::extract::Research;
use super::test::{Reply, Test};
use crate::solve::Solver;

/// Finds the jobs of a directory whose files state something that does not follow.
///
/// A file may be complete, with the right checksum, and wrong all the same: it was written by something that computed wrong, or
/// edited. That shows when something contradicts it, or when the certificate is checked, but not where it comes from.
pub(super) struct Audit<'a, 's> {
    pub directory: &'a ProofDirectory,
    /// Of it only the tables are used.
    pub solver: &'a Solver<'s>,
    pub research: &'a Research<'a>,
    pub cancel: &'a Cancel,
}

impl Audit<'_, '_> {
    /// The files of the jobs that are wrong.
    ///
    /// A job is right if its answer and each of its claims follow as they are said to: from a re-search, or in one ply from the
    /// claims of all jobs. Claims that follow from wrong ones are not held against their job: without the wrong ones they are
    /// found again or turn out to be wrong themselves.
    ///
    /// # Errors
    /// When a job or a table cannot be read, or it was stopped.
    pub fn wrong_jobs(&self) -> Result<Vec<PathBuf>, ProveError> {
        let mut all = Claims::new(self.directory.plan().request.position.pits());
        let paths = self.directory.job_paths()?;
        for path in &paths {
            if let Some((Job { bounds: Some(_), .. }, claims)) = self.read(path)? {
                all.extend(&claims);
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

    /// A job; `None` if another process has removed it since it was listed.
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

    /// Whether a claim follows as its job says. One that should follow in one ply, but from a job whose file was deleted, may
    /// also follow from a re-search.
    fn follows(&self, test: &Test, answer: bool, searched: bool, all: &Claims) -> Result<bool, ProveError> {
        self.cancel.check()?;
        if !searched && self.follows_in_one_ply(test, answer, all)? {
            return Ok(true);
        }
        Ok((self.research)(test)?.0 == Some(answer))
    }

    fn follows_in_one_ply(&self, test: &Test, answer: bool, all: &Claims) -> Result<bool, ProveError> {
        for reply in test.replies(self.solver.rules()) {
            // Whether the reply is known to have the answer that is needed: of one for a test that succeeds, else of all.
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

    /// Whether a test is certain, claimed, or shown by a table to have this answer.
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
