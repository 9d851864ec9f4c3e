use std::path::Path;

use super::directory::Job;
use super::target::Progress;
use super::test::Test;

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
