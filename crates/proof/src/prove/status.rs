use std::path::Path;

use super::claims::Claims;
use super::directory::{Job, ProofDirectory};
use super::error::ProveError;
use super::manager::{Finished, Manager, Numbers};
use super::request::RequestPart;
use super::test::{Progress, Test};

/// Event of a proof.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ProveEvent<'a> {
    /// A job begins.
    Begin {
        /// The test.
        test: &'a Test,
    },
    /// Claims are extracted from a proved test.
    Extract {
        /// The test.
        test: &'a Test,
        /// Number of claimed positions so far.
        claims: usize,
    },
    /// A job is finished.
    Finished {
        /// The job.
        job: &'a Job,
        /// Number of positions that it claims.
        claims: usize,
        /// Progress of the proof.
        state: &'a State,
    },
    /// Other processes run all remaining jobs.
    Waiting,
    /// Missing claims are added, and claims that are not needed are left out.
    Collecting,
    /// The collected claims are checked.
    Checking {
        /// Number of claimed positions.
        claims: usize,
    },
    /// The file of a job stated something that does not follow. It was removed, and the job is run again.
    Wrong {
        /// The file.
        path: &'a Path,
    },
}

/// Progress of a proof.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Progress of each part.
    pub parts: Vec<Progress>,
    /// Number of jobs that decided their test.
    pub proved: usize,
    /// Number of jobs that ran over their budget.
    pub split: usize,
    /// Number of remaining jobs if every test has the likely answer.
    pub left: usize,
    /// True if there may be more remaining jobs than counted.
    pub is_more_left: bool,
    /// Nodes of all jobs.
    pub nodes: u64,
    /// Seconds of all jobs, summed over all processes.
    pub seconds: f64,
    /// Estimated seconds for the remaining jobs in one process: for each, the time of all jobs per decided test.
    pub seconds_left: f64,
}

impl State {
    /// Returns true if everything is proved.
    pub fn is_proved(&self) -> bool {
        self.parts.iter().all(|part| part.next.is_none() && !part.is_refuted)
    }

    /// Returns true if a part is refuted.
    pub fn is_refuted(&self) -> bool {
        self.parts.iter().any(|part| part.is_refuted)
    }
}

/// Progress of the proof in a directory.
#[derive(Clone, Debug)]
pub struct Status {
    /// The jobs, by name.
    pub jobs: Vec<Job>,
    /// Number of claimed positions; a certificate need not contain all of them.
    pub claims: usize,
    /// Progress of each part of the request.
    pub parts: Vec<Progress>,
}

impl Status {
    /// Reads all jobs of a directory. Bounds that follow from tables alone are not included.
    ///
    /// # Errors
    /// If a job cannot be read, is damaged, or contradicts others.
    pub fn read(directory: &ProofDirectory) -> Result<Status, ProveError> {
        let plan = directory.plan();
        let (mut finished, mut jobs) = (Finished::default(), Vec::new());
        let mut all = Claims::new(plan.request.position.pits());
        for path in directory.job_paths()? {
            let (job, claims) = directory.read(&path)?;
            all.extend(claims);
            let position = job.test.position;
            match job.bounds {
                Some(bounds) if !finished.proved(&position, bounds) => {
                    return Err(ProveError::Contradiction { path, position: Box::new(position) });
                }
                Some(_) => {}
                None => finished.ran_over(&job.test),
            }
            jobs.push(job);
        }
        let targets: Vec<_> = plan.parts.iter().map(RequestPart::target).collect();
        let mut manager = Manager::new(plan.request.rules, |_| Numbers { proof: 1.0, disproof: 1.0 });
        let parts = manager.plan(&targets, &finished, 0).targets;
        Ok(Status { jobs, claims: all.len(), parts })
    }
}
