use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kalah_base::file::{self, StateError};
use kalah_core::cancel::Cancel;
use kalah_core::game::Rules;
use kalah_solve::solve::{SolveError, Solver};
use kalah_tables::table::Leases;

use super::checkers::{Checkers, JobChecker};
use super::claims::Claims;
use super::directory::{Job, ProofDirectory};
use super::error::ProveError;
use super::extract::Extraction;
use super::manager::{Finished, JobPlan, Manager, evaluate};
use super::request::{RequestPart, Wanted};
use super::status::{ProveEvent, State};
use super::test::{Aim, Reply, Target, Test};
use crate::certificate::{ClaimKeys, Head, Statement, StoredCertificate, write_sorted};

/// Sleep of a process that waits for others: the first, and the longest.
const WAITS: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(1)];

/// Maximum number of planned jobs among which to find one that no other process runs.
const MAX_PLANNED_JOBS: usize = 64;

/// A test is not searched again if it took the solver this many times the nodes of the effort.
const RESEARCH_LIMIT_FACTOR: u64 = 2;

/// Options of a process that works on a proof.
#[derive(Clone, Debug)]
pub struct ProverOptions {
    /// Nodes after which a job is given up, to be split into the positions after its moves.
    pub budget: u64,
    /// True if other processes work in the directory. Jobs with their leases are left to them.
    pub share: bool,
    /// Time without a change of its lease after which another process is presumed dead.
    pub patience: Duration,
    /// Ends the work.
    pub cancel: Cancel,
}

impl Default for ProverOptions {
    fn default() -> ProverOptions {
        ProverOptions { budget: 1 << 26, share: false, patience: Duration::from_secs(30), cancel: Cancel::new() }
    }
}

/// Works on a proof: runs jobs until everything is proved or something is refuted.
pub struct Prover<'p, 's> {
    solver: &'p Solver<'s>,
    directory: &'p ProofDirectory,
    checkers: &'p Checkers<'s>,
    options: ProverOptions,
    on_event: &'p (dyn Fn(ProveEvent) + Sync),
    targets: Vec<Target>,
    manager: Manager<'p>,
    finished: Finished,
    /// Claims of all jobs that were read or run.
    held: Claims,
    jobs: Vec<Job>,
    read: HashSet<PathBuf>,
    /// Files of wrong jobs, which were removed.
    wrong: HashSet<PathBuf>,
    leases: Leases,
    /// Number of jobs that this process ran.
    ran: usize,
}

impl std::fmt::Debug for Prover<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prover")
            .field("directory", &self.directory)
            .field("jobs", &self.jobs.len())
            .finish_non_exhaustive()
    }
}

impl<'p, 's> Prover<'p, 's> {
    /// A process that works on the proof in `directory` with `solver`. `checkers` check the claims.
    ///
    /// # Errors
    /// If the solver has fewer exact tables than the proof rests on, or jobs in the directory cannot be read or
    /// are damaged.
    pub fn new(
        solver: &'p Solver<'s>,
        directory: &'p ProofDirectory,
        checkers: &'p Checkers<'s>,
        options: ProverOptions,
        on_event: &'p (dyn Fn(ProveEvent) + Sync),
    ) -> Result<Prover<'p, 's>, ProveError> {
        let plan = directory.plan();
        let (wanted, found) = (plan.table_seeds(), solver.table_seeds().unwrap_or(0));
        if wanted > found {
            return Err(ProveError::Tables { wanted, found });
        }
        let (rules, pits) = (plan.request.rules, plan.request.position.pits());
        let mut prover = Prover {
            solver,
            directory,
            checkers,
            leases: Leases::new(options.patience),
            options,
            on_event,
            targets: plan.parts.iter().map(RequestPart::target).collect(),
            manager: manager(rules, solver),
            finished: Finished::default(),
            held: Claims::new(pits),
            jobs: Vec::new(),
            read: HashSet::new(),
            wrong: HashSet::new(),
            ran: 0,
        };
        match prover.options.share {
            true => directory.remove_stale(prover.options.patience)?,
            false => directory.remove_leftovers()?,
        }
        while let Err(error) = prover.read_jobs() {
            prover.after(error)?;
        }
        Ok(prover)
    }

    /// Runs the proof to its end. Once the checker has accepted the claims, the certificate is written to the
    /// file `path`. A refuted request has no certificate. Jobs whose files state something that does not follow
    /// are removed and run again.
    ///
    /// # Errors
    /// As [`Prover::run`] and [`Prover::certificate`].
    pub fn prove(&mut self, path: &Path) -> Result<(State, Option<StoredCertificate>), ProveError> {
        loop {
            match self.attempt(path) {
                Err(error) => self.after(error)?,
                done => return done,
            }
        }
    }

    fn attempt(&mut self, path: &Path) -> Result<(State, Option<StoredCertificate>), ProveError> {
        let state = self.run()?;
        if state.is_proved() {
            let file = self.certificate(&state, path)?;
            return Ok((state, Some(file)));
        }
        // A refutation is checked like a certificate, but none is written.
        let claims = self.certificate_claims()?;
        self.check(&self.directory.plan().statement(&state.parts), &claims)?;
        Ok((state, None))
    }

    /// Removes the jobs that can be the cause of an error, and begins anew.
    ///
    /// # Errors
    /// The error itself if no job is wrong, or an error while looking for wrong jobs.
    fn after(&mut self, error: ProveError) -> Result<(), ProveError> {
        if !error.may_come_from_a_job() {
            return Err(error);
        }
        // Everything proved from a wrong job must be forgotten.
        self.solver.forget();
        let plan = self.directory.plan();
        self.manager = manager(plan.request.rules, self.solver);
        (self.finished, self.held) = (Finished::default(), Claims::new(plan.request.position.pits()));
        self.jobs.clear();
        self.read.clear();
        let (directory, solver, checkers) = (self.directory, self.solver, self.checkers);
        let wrong = JobChecker { directory, solver, checkers, cancel: &self.options.cancel }.wrong_jobs()?;
        // A job that is wrong again has another cause.
        if wrong.is_empty() || wrong.iter().any(|path| self.wrong.contains(path)) {
            return Err(error);
        }
        for path in wrong {
            self.directory.remove(&path)?;
            (self.on_event)(ProveEvent::Wrong { path: &path });
            self.wrong.insert(path);
        }
        Ok(())
    }

    /// Checks a statement and the claims that prove it as any reader would.
    fn check(&self, statement: &Statement, claims: &Claims) -> Result<(), ProveError> {
        (self.on_event)(ProveEvent::Checking { claims: claims.len() });
        self.checkers.check(statement, claims, &self.options.cancel)
    }

    /// All finished jobs, in the order in which this process read or ran them.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// Number of jobs that this process ran.
    pub fn ran(&self) -> usize {
        self.ran
    }

    /// Reads the new jobs in the directory.
    fn read_jobs(&mut self) -> Result<(), ProveError> {
        for path in self.directory.job_paths()? {
            if self.read.contains(&path) {
                continue;
            }
            match self.directory.read(&path) {
                Ok((job, claims)) => self.take(path, job, claims)?,
                // Another process has found it wrong and removed it.
                Err(ProveError::State(error)) if error.is_missing() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Adds a job.
    fn take(&mut self, path: PathBuf, job: Job, claims: Claims) -> Result<(), ProveError> {
        match job.bounds {
            Some(bounds) => {
                let position = job.test.position;
                let contradiction = || ProveError::Contradiction { path: path.clone(), position: Box::new(position) };
                if !self.finished.proved(&position, bounds) {
                    return Err(contradiction());
                }
                match self.solver.add_proof(&position, bounds) {
                    Err(SolveError::Contradiction(_)) => return Err(contradiction()),
                    added => added?,
                }
                self.held.extend(claims);
            }
            None => self.finished.ran_over(&job.test),
        }
        self.read.insert(path);
        self.jobs.push(job);
        Ok(())
    }

    /// Progress of the proof. At most `most` remaining jobs are counted.
    pub(crate) fn state(&mut self, most: usize) -> State {
        let JobPlan { jobs, is_complete, targets } = self.manager.plan(&self.targets, &self.finished, most);
        let proved = self.jobs.iter().filter(|job| job.bounds.is_some()).count();
        // Not a `sum`, which is -0.0 without jobs.
        let seconds = self.jobs.iter().fold(0.0, |sum, job| sum + job.seconds);
        State {
            parts: targets,
            proved,
            split: self.jobs.len() - proved,
            left: jobs.len(),
            is_more_left: !is_complete,
            nodes: self.jobs.iter().fold(0, |sum, job| sum.saturating_add(job.nodes)),
            seconds,
            seconds_left: seconds / proved.max(1) as f64 * jobs.len() as f64,
        }
    }

    /// Runs jobs until everything is proved or something is refuted. Waits for jobs of other processes.
    ///
    /// # Errors
    /// If it is stopped, a table or a job is damaged, or a file cannot be written. Finished jobs are kept.
    pub fn run(&mut self) -> Result<State, ProveError> {
        let mut wait = WAITS[0];
        loop {
            self.read_jobs()?;
            let plan =
                self.manager.plan(&self.targets, &self.finished, if self.options.share { MAX_PLANNED_JOBS } else { 1 });
            if plan.jobs.is_empty() || plan.targets.iter().any(|target| target.is_refuted) {
                return Ok(self.state(MAX_PLANNED_JOBS));
            }
            let mut ran = false;
            for test in plan.jobs {
                self.options.cancel.check()?;
                let lease = match self.options.share {
                    true => match self.leases.file(self.directory.lease_path(&test))? {
                        Some(lease) => Some(lease),
                        None => continue,
                    },
                    false => None,
                };
                // It may have been finished after the jobs were read and before the lease was taken.
                let path = self.directory.job_path(&test);
                if !self.read.contains(&path) && !path.exists() {
                    // The holder of the lease is the only one that writes the job.
                    file::remove_leftovers(&path).map_err(ProveError::io(&path))?;
                    self.job(&test)?;
                }
                drop(lease);
                ran = true;
                break;
            }
            if ran {
                wait = WAITS[0];
            } else {
                (self.on_event)(ProveEvent::Waiting);
                self.options.cancel.check()?;
                std::thread::sleep(wait);
                wait = (wait * 2).min(WAITS[1]);
            }
        }
    }

    /// Runs a job and writes its file.
    fn job(&mut self, test: &Test) -> Result<(), ProveError> {
        (self.on_event)(ProveEvent::Begin { test });
        let (start, nodes) = (Instant::now(), self.solver.nodes());
        let bounds = match self.solver.test_within(&test.position, test.score, self.options.budget) {
            Ok(bounds) => Some(bounds),
            Err(SolveError::NodeLimit { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        if let Some(answer) = bounds.and_then(|bounds| test.decided_by(bounds)) {
            let on_event = self.on_event;
            let on_claims = |claims| on_event(ProveEvent::Extract { test, claims });
            self.extraction(&on_claims, |extraction, held| extraction.run(held, &[(*test, answer)]))?;
        }
        let claims = self.held.take_new().map_err(ProveError::io(self.directory.job_path(test)))?;
        let job = Job {
            test: *test,
            // Only the claimed answer.
            bounds: bounds.and_then(|bounds| test.decided_by(bounds)).map(|answer| test.bounds(answer)),
            budget: self.options.budget,
            nodes: self.solver.nodes() - nodes,
            seconds: start.elapsed().as_secs_f64(),
        };
        match self.directory.write(&job, &claims) {
            // Another process presumed this one dead, and removed the unfinished file.
            Err(_) if self.options.share => {
                if !self.directory.job_path(test).exists() {
                    self.directory.write(&job, &claims)?;
                }
            }
            written => written?,
        }
        self.ran += 1;
        self.take(self.directory.job_path(test), job.clone(), Claims::new(test.position.pits()))?;
        let state = self.state(MAX_PLANNED_JOBS);
        (self.on_event)(ProveEvent::Finished { job: &job, claims: claims.positions, state: &state });
        Ok(())
    }

    /// Extracts claims, and reports their number on the way.
    fn extraction(
        &mut self,
        on_claims: &dyn Fn(usize),
        work: impl FnOnce(&Extraction, &mut Claims) -> Result<(), ProveError>,
    ) -> Result<(), ProveError> {
        let extraction = Extraction {
            solver: self.solver,
            table_seeds: self.directory.plan().table_seeds() as u32,
            checkers: self.checkers,
            research_limit: RESEARCH_LIMIT_FACTOR << self.directory.plan().effort.min(50),
            on_claims,
            cancel: &self.options.cancel,
        };
        work(&extraction, &mut self.held)
    }

    /// Checks the certificate and writes it to the file `path`, once everything is proved. Nothing is written
    /// if the file exists, and another process that is writing it is waited for. Returns the finished file.
    ///
    /// # Errors
    /// As [`Prover::run`]; also if `path` is another file, or a claim does not follow.
    pub fn certificate(&mut self, state: &State, path: &Path) -> Result<StoredCertificate, ProveError> {
        let directory = self.directory;
        let statement = directory.plan().statement(&state.parts);
        let remove_leftovers = || file::remove_leftovers(path).map_err(ProveError::io(path));
        if !self.options.share {
            remove_leftovers()?;
        }
        let mut wait = WAITS[0];
        loop {
            self.options.cancel.check()?;
            if path.exists() {
                let there = StoredCertificate::open(path)?;
                let Head { statement: found, effort, tables } = there.head();
                let plan = directory.plan();
                if (found, *effort, tables) == (&statement, plan.effort, &plan.tables) {
                    // A process that was killed after writing the certificate left it.
                    self.directory.remove_lease(&directory.certificate_lease_path())?;
                    return Ok(there);
                }
                if (found.position, *effort, tables) == (statement.position, plan.effort, &plan.tables) {
                    // A wrong job may be the reason why the statements differ.
                    let claims = self.certificate_claims()?;
                    self.check(&statement, &claims)?;
                }
                let plan = directory.plan();
                let what = format!("it is the certificate of another request, not of {}", plan.request);
                return Err(StateError::Other { path: path.to_owned(), what }.into());
            }
            let lease = match self.options.share {
                true => self.leases.file(directory.certificate_lease_path())?,
                false => None,
            };
            // It may have been written before the lease was taken. Another certificate would have another
            // digest.
            if lease.is_some() && path.exists() {
                continue;
            }
            if lease.is_some() || !self.options.share {
                let claims = self.certificate_claims()?;
                self.check(&statement, &claims)?;
                // No other process is writing it.
                remove_leftovers()?;
                let keys = ClaimKeys::new(statement.position.pits());
                let (count, ordered) = claims.in_order();
                write_sorted(path, &directory.plan().head(&state.parts), keys, count, ordered)?;
                return Ok(StoredCertificate::open(path)?);
            }
            (self.on_event)(ProveEvent::Waiting);
            std::thread::sleep(wait);
            wait = (wait * 2).min(WAITS[1]);
        }
    }

    /// Claims of the certificate, once everything is proved.
    ///
    /// # Errors
    /// As [`Prover::run`].
    pub(crate) fn certificate_claims(&mut self) -> Result<Claims, ProveError> {
        (self.on_event)(ProveEvent::Collecting);
        let (targets, finished) = self.whole();
        // The solver did not search the positions above the jobs.
        for (test, answer) in self.manager.decided(&targets, &finished) {
            self.solver.add_proof(&test.position, test.bounds(answer))?;
        }
        let pits = self.directory.plan().request.position.pits();
        let known = self.manager.plan(&targets, &finished, 0).targets;
        let proved: Vec<_> =
            targets.iter().zip(known).flat_map(|(target, progress)| target.proved(progress.known)).collect();
        let mut needed = Claims::new(pits);
        self.extraction(&|_| (), |extraction, held| {
            // The others are not needed any more, unless a job is wrong; then all jobs are read again.
            needed = extraction.needed(&mut std::mem::replace(held, Claims::new(pits)), &proved, pits)?;
            Ok(())
        })?;
        Ok(needed)
    }
}

/// The manager of a proof with this solver.
fn manager<'p>(rules: Rules, solver: &'p Solver) -> Manager<'p> {
    Manager::new(rules, move |test| evaluate(solver, test))
}

impl Prover<'_, '_> {
    /// The targets; with openings also the position itself, whose value follows from theirs. It is expanded
    /// down to them.
    fn whole(&mut self) -> (Vec<Target>, Finished) {
        let (mut targets, mut finished) = (self.targets.clone(), self.finished.clone());
        let plan = self.directory.plan();
        if plan.request.wanted == Wanted::Openings && !targets.is_empty() {
            let parts = self.manager.plan(&targets, &finished, 0).targets;
            let position = plan.request.position;
            let root =
                Target { position, aim: Aim::Exactly { score: position.score(plan.statement(&parts).bounds.lower) } };
            for test in [root.progress(None).next, root.progress(None).then].into_iter().flatten() {
                finished.ran_over(&test);
                for reply in test.replies(plan.request.rules) {
                    // Openings that begin with an again-move have two moves.
                    if let Reply::Test { test, same: true } = reply {
                        finished.ran_over(&test);
                    }
                }
            }
            targets.push(root);
        }
        (targets, finished)
    }
}
