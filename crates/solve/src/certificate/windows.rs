use std::collections::BTreeSet;

use kalah_base::progress::Pulse;
use rayon::prelude::*;

use super::check_error::CheckError;
use super::claim::Claim;
use super::run::{Check, Done, IsDone};
use super::stored::Known;
use super::tasks::TASK_CLAIMS;

/// Claims of a sample that are checked at a time.
const SAMPLE_CLAIMS: usize = 1 << 17;

impl Check<'_> {
    /// Checks the claims of all tasks that are not done. One window of claims is in memory at a time,
    /// and the claims about the positions after their moves.
    pub(super) fn all_claims(&self, is_done: &IsDone, done: &Done, pulse: &Pulse) -> Result<(), CheckError> {
        let (stored, task_claims) = (self.certificate, TASK_CLAIMS as usize);
        for window in stored.windows() {
            let tasks = (window.start / TASK_CLAIMS) as usize..window.end.div_ceil(TASK_CLAIMS) as usize;
            if tasks.clone().all(is_done) {
                continue;
            }
            pulse.check()?;
            let claims = stored.read(window)?;
            let coded = |task: usize| claims.chunks(task_claims).nth(task - tasks.start).unwrap_or_default();
            let claims_of = |task: usize| {
                let numbers = task as u64 * TASK_CLAIMS..;
                numbers.zip(coded(task).iter().map(|&coded| stored.claim(coded))).collect()
            };
            let to_check: Vec<usize> = tasks.clone().filter(|&task| !is_done(task)).collect();
            let asked = to_check.par_iter().flat_map_iter(|&task| coded(task).iter().map(|&coded| stored.claim(coded)));
            let known = self.asked_by(asked, pulse)?;
            self.in_parallel(tasks.clone(), is_done, &claims_of, &|position| known.get(position), done, pulse)?;
        }
        Ok(())
    }

    /// Checks the claims with these numbers, counted from 0.
    pub(super) fn drawn_claims(&self, drawn: &BTreeSet<u64>, done: &Done, pulse: &Pulse) -> Result<(), CheckError> {
        let (stored, task_claims) = (self.certificate, TASK_CLAIMS as usize);
        let drawn: Vec<u64> = drawn.iter().copied().collect();
        drawn.chunks(SAMPLE_CLAIMS).try_for_each(|numbers| {
            let claims = stored.read_numbered(numbers)?;
            let asked = claims.par_iter().map(|&(_, coded)| stored.claim(coded));
            let known = self.asked_by(asked, pulse)?;
            let parts: Vec<_> = claims.chunks(task_claims).collect();
            let claims_of =
                |part: usize| parts[part].iter().map(|&(number, coded)| (number, stored.claim(coded))).collect();
            self.in_parallel(0..parts.len(), &|_| false, &claims_of, &|position| known.get(position), done, pulse)
        })
    }

    /// Looks up the claims that the checks of `claims` may ask for.
    fn asked_by(&self, claims: impl ParallelIterator<Item = Claim>, pulse: &Pulse) -> Result<Known, CheckError> {
        let checker = self.asking_checker();
        let asked = claims.flat_map_iter(|claim| {
            let mut keys = Vec::new();
            checker.each_asked(&claim.position, |position| keys.extend(self.certificate.keys().key(position)));
            keys
        });
        self.certificate.look_up(asked.collect(), pulse)
    }
}
