use super::claims::Claims;
use super::directory::{Job, ProofDirectory};
use super::error::ProveError;
use super::manager::{Finished, Manager, Numbers};
use super::request::Part;
use super::target::Progress;
use super::test::Test;

/// What is proved in a directory.
#[derive(Clone, Debug)]
pub struct Status {
    /// The jobs, by name.
    pub jobs: Vec<Job>,
    /// The jobs on which processes have leases.
    pub running: Vec<Running>,
    /// How many positions they claim; not all claims are needed for a certificate.
    pub claims: usize,
    /// What is known about each part of the request.
    pub parts: Vec<Progress>,
}

/// A job that is run by a process, unless that died.
#[derive(Clone, Debug)]
pub struct Running {
    /// What is tested.
    pub test: Test,
    /// Which process runs it, and where.
    pub holder: String,
}

impl Status {
    /// Reads all jobs of a directory. What follows from tables alone is not taken into account.
    ///
    /// # Errors
    /// When a job cannot be read, is damaged, or contradicts others.
    pub fn read(directory: &ProofDirectory) -> Result<Status, ProveError> {
        let plan = directory.plan();
        let (mut finished, mut jobs) = (Finished::default(), Vec::new());
        let mut all = Claims::new(plan.request.position.pits());
        for path in directory.job_paths()? {
            let (job, claims) = directory.read(&path)?;
            all.extend(&claims);
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
        let targets: Vec<_> = plan.parts.iter().map(Part::target).collect();
        let mut manager = Manager::new(plan.request.rules, |_| Numbers { proof: 1.0, disproof: 1.0 });
        let parts = manager.plan(&targets, &finished, 0).targets;
        let leases = directory.leases()?.into_iter();
        let running = leases.map(|(test, holder)| Running { test, holder }).collect();
        Ok(Status { jobs, running, claims: all.len(), parts })
    }
}
