use super::claims::Claims;
use super::directory::{Job, ProofDirectory};
use super::error::ProveError;
use super::manager::{Finished, Manager, Numbers};
use super::request::RequestPart;
use super::target::Progress;
use super::test::Test;

/// Progress of the proof in a directory.
#[derive(Clone, Debug)]
pub struct Status {
    /// The jobs, by name.
    pub jobs: Vec<Job>,
    /// The jobs with leases.
    pub running: Vec<Running>,
    /// Number of claimed positions; a certificate need not contain all of them.
    pub claims: usize,
    /// Progress of each part of the request.
    pub parts: Vec<Progress>,
}

/// A job with a lease. Its process may have died.
#[derive(Clone, Debug)]
pub struct Running {
    /// The test.
    pub test: Test,
    /// The process that runs it, and its machine.
    pub holder: String,
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
        let leases = directory.leases()?.into_iter();
        let running = leases.map(|(test, holder)| Running { test, holder }).collect();
        Ok(Status { jobs, running, claims: all.len(), parts })
    }
}
