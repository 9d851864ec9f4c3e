use std::path::Path;

use super::directory::Job;
use super::target::Progress;
use super::test::Test;

/// What happens in a proof.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ProveEvent<'a> {
    /// A job begins.
    Begin {
        /// What is tested.
        test: &'a Test,
    },
    /// Claims are extracted from a proved test.
    Extract {
        /// What was tested.
        test: &'a Test,
        /// Positions that are claimed so far.
        claims: usize,
    },
    /// A job is finished.
    Finished {
        /// The job.
        job: &'a Job,
        /// Positions that it claims.
        claims: usize,
        /// What is known and left now.
        state: &'a State,
    },
    /// All jobs that are left are run by other processes.
    Waiting,
    /// What the jobs do not claim themselves is claimed, and what is not needed left out.
    Collecting,
    /// The claims that were collected are checked.
    Checking {
        /// How many positions they are about.
        claims: usize,
    },
    /// The file of a job states something that does not follow. It was removed, and the job is run again.
    Wrong {
        /// The file.
        path: &'a Path,
    },
}

/// How far a proof is.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// What is known about each part.
    pub parts: Vec<Progress>,
    /// Jobs that decided their test.
    pub proved: usize,
    /// Jobs that ran over their budget.
    pub split: usize,
    /// Jobs that are left if every test has the likely answer.
    pub left: usize,
    /// Whether there may be more of them than that.
    pub is_more_left: bool,
    /// Nodes of all jobs.
    pub nodes: u64,
    /// Seconds of all jobs, of all processes together.
    pub seconds: f64,
    /// Seconds of the jobs that are left, if they take as long as those that are finished; one process.
    pub seconds_left: f64,
}

impl State {
    /// Whether everything is proved.
    pub fn is_proved(&self) -> bool {
        self.parts.iter().all(|part| part.next.is_none() && !part.is_refuted)
    }

    /// Whether something that was to be proved is wrong.
    pub fn is_refuted(&self) -> bool {
        self.parts.iter().any(|part| part.is_refuted)
    }
}
