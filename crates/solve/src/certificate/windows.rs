use std::collections::BTreeSet;

use kalah_tables::progress::Pulse;
use rayon::prelude::*;

use super::check_error::CheckError;
use super::claim::Claim;
use super::run::{Check, Done, IsDone, Subject};
use super::stored::{Known, StoredCertificate};
use super::tasks::TASK_CLAIMS;

/// Claims of a sample that are checked at a time.
const SAMPLE_CLAIMS: usize = 1 << 17;

impl Check<'_> {
    /// Checks the claims of all tasks that are not done. With a certificate in its file, one window of claims is in
    /// memory at a time, and the claims about the positions after their moves.
    pub(super) fn all_claims(&self, is_done: &IsDone, done: &Done, pulse: &Pulse) -> Result<(), CheckError> {
        let task_claims = TASK_CLAIMS as usize;
        let stored = match self.subject {
            Subject::File(stored) => stored,
            Subject::Memory(certificate) => {
                let claims = &certificate.claims;
                // The first claim of each task.
                let firsts: Vec<u128> = claims.coded().map(|(key, _)| key).step_by(task_claims).collect();
                let claims_of = |task: usize| {
                    let numbers = task as u64 * TASK_CLAIMS..;
                    numbers.zip(claims.iter_from(firsts[task])).take(task_claims).collect()
                };
                let claimed = |position: &_| claims.get(position);
                return self.in_parallel(0..firsts.len(), is_done, &claims_of, &claimed, done, pulse);
            }
        };
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
            let known = self.asked_by(stored, asked, pulse)?;
            self.in_parallel(tasks.clone(), is_done, &claims_of, &|position| known.get(position), done, pulse)?;
        }
        Ok(())
    }

    /// Checks the claims with these numbers, counted from 0.
    pub(super) fn drawn_claims(&self, drawn: &BTreeSet<u64>, done: &Done, pulse: &Pulse) -> Result<(), CheckError> {
        let task_claims = TASK_CLAIMS as usize;
        let never = |_| false;
        match self.subject {
            Subject::Memory(certificate) => {
                let numbered = (0..).zip(certificate.claims.iter());
                let drawn: Vec<(u64, Claim)> = numbered.filter(|(number, _)| drawn.contains(number)).collect();
                let parts: Vec<_> = drawn.chunks(task_claims).collect();
                let claimed = |position: &_| certificate.claims.get(position);
                self.in_parallel(0..parts.len(), &never, &|part| parts[part].to_vec(), &claimed, done, pulse)
            }
            Subject::File(stored) => {
                let drawn: Vec<u64> = drawn.iter().copied().collect();
                drawn.chunks(SAMPLE_CLAIMS).try_for_each(|numbers| {
                    let claims = stored.read_numbered(numbers)?;
                    let asked = claims.par_iter().map(|&(_, coded)| stored.claim(coded));
                    let known = self.asked_by(stored, asked, pulse)?;
                    let parts: Vec<_> = claims.chunks(task_claims).collect();
                    let claims_of = |part: usize| {
                        parts[part].iter().map(|&(number, coded)| (number, stored.claim(coded))).collect()
                    };
                    let claimed = |position: &_| known.get(position);
                    self.in_parallel(0..parts.len(), &never, &claims_of, &claimed, done, pulse)
                })
            }
        }
    }

    /// Looks up the claims that the checks of `claims` may ask for.
    fn asked_by(
        &self,
        stored: &StoredCertificate,
        claims: impl ParallelIterator<Item = Claim>,
        pulse: &Pulse,
    ) -> Result<Known, CheckError> {
        let checker = self.asking_checker();
        let asked = claims.flat_map_iter(|claim| {
            let mut keys = Vec::new();
            checker.each_asked(&claim.position, |position| keys.extend(stored.keys().key(position)));
            keys
        });
        stored.look_up(asked.collect(), pulse)
    }
}
