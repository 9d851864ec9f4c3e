use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kalah_base::file::{self, StateError};
use kalah_core::cancel::Cancel;
use kalah_core::game::Position;
use kalah_core::table::Tables;
use kalah_solve::bounds::ClaimKeys;
use kalah_solve::solve::{SolveError, Solver};
use kalah_tables::table::Leases;

use super::checkers::{JobChecker, check};
use super::claims::Claims;
use super::directory::{Job, ProofDirectory};
use super::error::ProveError;
use super::extract::Extraction;
use super::manager::{Finished, Manager};
use super::request::{Aim, Progress, RequestPart, Wanted};
use super::test::{Reply, Test};
use crate::certificate::{Checkers, Statement, StoredCertificate, write_sorted};

/// Sleep of a process that waits for others.
const WAIT: Duration = Duration::from_millis(250);

/// Maximum number of planned jobs among which to find one that no other process runs.
const MAX_PLANNED_JOBS: usize = 64;

/// A test is not searched again if it took the solver this many times the nodes of the effort.
const RESEARCH_LIMIT_FACTOR: u64 = 2;

/// Event of a proof.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ProveEvent<'a> {
    /// A job begins.
    Begin(&'a Test),
    /// A job is finished.
    Finished {
        /// The job.
        job: &'a Job,
        /// Number of positions that it claims.
        claims: usize,
        /// All finished jobs.
        jobs: &'a [Job],
        /// Remaining jobs if every test has the likely answer, counted to 64.
        left: usize,
    },
    /// Other processes run all remaining jobs.
    Waiting,
    /// Missing claims are added, and claims that are not needed are left out.
    Collecting,
    /// This many claims are checked.
    Checking(usize),
    /// The file of a job stated something that does not follow. It was removed, and the job is run again.
    Wrong(&'a Path),
}

/// Progress of a proof.
#[derive(Clone, Debug)]
pub struct State {
    /// Progress of each part.
    pub parts: Vec<Progress>,
    /// The finished jobs.
    pub jobs: Vec<Job>,
    /// Number of jobs that this process ran.
    pub ran: usize,
}

impl State {
    /// Reads all jobs of a directory. Bounds that follow from tables alone are not included.
    ///
    /// # Errors
    /// If a job cannot be read, is damaged, or contradicts others.
    pub fn read(directory: &ProofDirectory) -> Result<State, ProveError> {
        let (mut finished, mut jobs) = (Finished::default(), Vec::new());
        for path in directory.job_paths()? {
            let Some((job, _)) = directory.read(&path)? else { continue };
            add(&mut finished, &path, &job)?;
            jobs.push(job);
        }
        let plan = directory.plan();
        let parts = Manager::new(plan.request.rules, None).progress(&plan.parts, &finished);
        Ok(State { parts, jobs, ran: 0 })
    }

    /// Returns true if everything is proved.
    pub fn is_proved(&self) -> bool {
        self.parts.iter().all(|part| part.next.is_none() && !part.is_refuted)
    }

    /// Returns true if a part is refuted.
    pub fn is_refuted(&self) -> bool {
        self.parts.iter().any(|part| part.is_refuted)
    }
}

/// Adds the result of the job in the file `path`.
fn add(finished: &mut Finished, path: &Path, job: &Job) -> Result<(), ProveError> {
    let position = &job.test.position;
    match job.answer {
        None => finished.ran_over(&job.test),
        Some(answer) if finished.proved(position, job.test.bounds(answer)) => {}
        Some(_) => return Err(contradiction(path, position)),
    }
    Ok(())
}

fn contradiction(path: &Path, position: &Position) -> ProveError {
    let path = path.display();
    ProveError::Wrong(format!("{path}: its bounds of {position} contradict other jobs or the tables"))
}

/// Options of a process that works on a proof.
#[derive(Clone, Debug)]
pub struct ProverOptions {
    /// Nodes after which a job is given up, to be split into the positions after its moves.
    pub budget: u64,
    /// True if other processes work in the directory.
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

/// A process that works on the proof in a directory.
pub struct Prover<'p, 's> {
    /// The solver, with the tables that the proof rests on.
    pub solver: &'p Solver<'s>,
    /// The tables for checks of claims.
    pub tables: Option<&'s Tables>,
    /// The directory.
    pub directory: &'p ProofDirectory,
    /// The options.
    pub options: ProverOptions,
    /// Called with each event.
    pub on_event: &'p (dyn Fn(ProveEvent) + Sync),
}

impl std::fmt::Debug for Prover<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prover").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl Prover<'_, '_> {
    /// Runs jobs until everything is proved or something is refuted. Once the checker has accepted the claims, the
    /// certificate is written to the file `path`. A refuted request has no certificate.
    ///
    /// Jobs whose files state something that does not follow are removed and run again. A file that exists and is the
    /// certificate of this proof stays. Another process that is writing it is waited for.
    ///
    /// # Errors
    /// If it is stopped, tables are missing, a table or a job is damaged, `path` is another file, a file cannot be
    /// written, or a claim does not follow for another reason. Finished jobs are kept.
    pub fn prove(&self, path: &Path) -> Result<(State, Option<StoredCertificate>), ProveError> {
        let Prover { solver, directory, ref options, .. } = *self;
        let plan = directory.plan();
        plan.require(solver, self.tables)?;
        if !options.share {
            directory.clean()?;
            file::remove_leftovers(path).map_err(ProveError::io(path))?;
        }
        let pits = plan.request.position.pits();
        let checkers = Checkers::new(plan.request.rules, pits, self.tables, plan.table_seeds(), plan.effort);
        let (mut removed, mut ran) = (HashSet::new(), 0);
        loop {
            let mut run = Run {
                prover: self,
                checkers: &checkers,
                manager: Manager::new(plan.request.rules, Some(solver)),
                finished: Finished::default(),
                held: Claims::new(pits),
                jobs: Vec::new(),
                read: HashSet::new(),
                leases: Leases::new(options.patience),
                ran,
            };
            let error = match run.prove(path) {
                Err(error) if error.may_come_from_a_job() => error,
                Err(error) => return Err(error),
                Ok((parts, file)) => return Ok((State { parts, jobs: run.jobs, ran: run.ran }, file)),
            };
            // Everything proved from a wrong job must be forgotten.
            ran = run.ran;
            drop(run);
            solver.forget();
            let wrong = JobChecker { directory, solver, checkers: &checkers, cancel: &options.cancel }.wrong_jobs()?;
            // A job that is wrong again has another cause.
            if wrong.is_empty() || wrong.iter().any(|path| removed.contains(path)) {
                return Err(error);
            }
            for path in wrong {
                directory.remove(&path)?;
                (self.on_event)(ProveEvent::Wrong(&path));
                removed.insert(path);
            }
        }
    }
}

/// An attempt to complete the proof, from the jobs in the directory.
struct Run<'p, 's> {
    prover: &'p Prover<'p, 's>,
    checkers: &'p Checkers<'s>,
    manager: Manager<'p>,
    finished: Finished,
    /// Claims of all jobs that were read or run.
    held: Claims,
    jobs: Vec<Job>,
    /// Files of the `jobs`.
    read: HashSet<PathBuf>,
    leases: Leases,
    /// Number of jobs that this process ran.
    ran: usize,
}

impl Run<'_, '_> {
    fn prove(&mut self, path: &Path) -> Result<(Vec<Progress>, Option<StoredCertificate>), ProveError> {
        let parts = self.jobs()?;
        let statement = self.prover.directory.plan().statement(&parts);
        let file = if parts.iter().any(|part| part.is_refuted) {
            // A refutation is checked like a certificate, but none is written.
            self.checked_claims(&statement)?;
            None
        } else {
            Some(self.certificate(&parts, path)?)
        };
        Ok((parts, file))
    }

    /// Runs jobs until everything is proved or something is refuted. Waits for jobs of other processes.
    fn jobs(&mut self) -> Result<Vec<Progress>, ProveError> {
        let Prover { directory, ref options, .. } = *self.prover;
        let (parts, most) = (&directory.plan().parts, if options.share { MAX_PLANNED_JOBS } else { 1 });
        loop {
            self.read_jobs()?;
            let progress = self.manager.progress(parts, &self.finished);
            let tests = self.manager.plan(parts, &self.finished, most);
            if tests.is_empty() || progress.iter().any(|part| part.is_refuted) {
                return Ok(progress);
            }
            if !self.job(&tests)? {
                self.wait()?;
            }
        }
    }

    fn wait(&self) -> Result<(), ProveError> {
        (self.prover.on_event)(ProveEvent::Waiting);
        std::thread::sleep(WAIT);
        Ok(self.prover.options.cancel.check()?)
    }

    /// Reads the new jobs in the directory.
    fn read_jobs(&mut self) -> Result<(), ProveError> {
        for path in self.prover.directory.job_paths()? {
            if !self.read.contains(&path)
                && let Some((job, claims)) = self.prover.directory.read(&path)?
            {
                self.take(path, job, claims)?;
            }
        }
        Ok(())
    }

    /// Adds a job.
    fn take(&mut self, path: PathBuf, job: Job, claims: Claims) -> Result<(), ProveError> {
        add(&mut self.finished, &path, &job)?;
        if let Some(answer) = job.answer {
            let position = &job.test.position;
            match self.prover.solver.add_proof(position, job.test.bounds(answer)) {
                Err(SolveError::Contradiction(_)) => return Err(contradiction(&path, position)),
                added => added?,
            }
            self.held.extend(claims);
        }
        self.read.insert(path);
        self.jobs.push(job);
        Ok(())
    }

    /// Runs the first of these jobs that no other process runs, and writes its file. Returns false if others run all.
    fn job(&mut self, tests: &[Test]) -> Result<bool, ProveError> {
        let Prover { solver, directory, ref options, on_event, .. } = *self.prover;
        for test in tests {
            options.cancel.check()?;
            let path = directory.job_path(test);
            let Some(_lease) = self.leases.file(path.with_extension("lease"))? else { continue };
            if path.exists() {
                // It was finished after the jobs were read and before the lease was taken.
                return Ok(true);
            }
            on_event(ProveEvent::Begin(test));
            let (start, nodes) = (Instant::now(), solver.nodes());
            let answer = match solver.test_within(&test.position, test.score, options.budget) {
                Ok(bounds) => test.decided_by(bounds),
                Err(SolveError::NodeLimit { .. }) => None,
                Err(error) => return Err(error.into()),
            };
            if let Some(answer) = answer {
                self.prover.extraction(self.checkers).run(&mut self.held, &[(*test, answer)])?;
            }
            let claims = self.held.take_new().map_err(ProveError::io(&path))?;
            let (nodes, seconds) = (solver.nodes() - nodes, start.elapsed().as_secs_f64());
            let job = Job { test: *test, answer, nodes, seconds };
            directory.write(&job, &claims)?;
            self.ran += 1;
            self.take(path, job.clone(), Claims::new(test.position.pits()))?;
            let left = self.manager.plan(&directory.plan().parts, &self.finished, MAX_PLANNED_JOBS).len();
            on_event(ProveEvent::Finished { job: &job, claims: claims.positions, jobs: &self.jobs, left });
            return Ok(true);
        }
        Ok(false)
    }

    /// Checks the certificate and writes it to the file `path`, once everything is proved. Nothing is written
    /// if the file exists, and another process that is writing it is waited for. Returns the finished file.
    fn certificate(&mut self, parts: &[Progress], path: &Path) -> Result<StoredCertificate, ProveError> {
        let directory = self.prover.directory;
        let head = directory.plan().head(parts);
        loop {
            if path.exists() {
                let there = StoredCertificate::open(path)?;
                if *there.head() == head {
                    return Ok(there);
                }
                // A wrong job may be the reason why they differ.
                self.checked_claims(&head.statement)?;
                let request = format!("of {}", directory.plan().request);
                return Err(StateError::other(path, "it is the certificate", "of another request", request).into());
            }
            // It may have been written before the lease was taken. Another certificate would have another digest.
            if let Some(_lease) = self.leases.file(directory.certificate_lease_path())?
                && !path.exists()
            {
                let claims = self.checked_claims(&head.statement)?;
                write_sorted(path, &head, ClaimKeys::new(head.statement.position.pits()), claims.coded())?;
                return Ok(StoredCertificate::open(path)?);
            }
            self.wait()?;
        }
    }

    /// The claims that prove a statement, once everything is proved, checked as any reader would.
    fn checked_claims(&mut self, statement: &Statement) -> Result<Claims, ProveError> {
        let Prover { solver, directory, ref options, on_event, .. } = *self.prover;
        on_event(ProveEvent::Collecting);
        let (parts, finished) = self.whole();
        // The solver did not search the positions above the jobs.
        for (test, answer) in self.manager.decided(&parts, &finished) {
            solver.add_proof(&test.position, test.bounds(answer))?;
        }
        let known = self.manager.progress(&parts, &finished);
        let proved: Vec<_> = parts.iter().zip(known).flat_map(|(part, progress)| part.proved(progress.known)).collect();
        // The others are not needed any more, unless a job is wrong; then all jobs are read again.
        let pits = directory.plan().request.position.pits();
        let held = std::mem::replace(&mut self.held, Claims::new(pits));
        let claims = self.prover.extraction(self.checkers).needed(held, &proved, pits)?;
        on_event(ProveEvent::Checking(claims.len()));
        check(self.checkers, statement, &claims, &options.cancel)?;
        Ok(claims)
    }

    /// The parts; with openings also the position itself, whose value follows from theirs. It is expanded
    /// down to them.
    fn whole(&mut self) -> (Vec<RequestPart>, Finished) {
        let plan = self.prover.directory.plan();
        let (mut parts, mut finished) = (plan.parts.clone(), self.finished.clone());
        if plan.request.wanted == Wanted::Openings {
            let known = self.manager.progress(&parts, &finished);
            let score = plan.request.position.score(plan.statement(&known).bounds.lower);
            let aim = Aim { lower: score, upper: score, is_guess: false };
            let root = plan.request.part(Vec::new(), aim).expect("no move is illegal");
            let Progress { next, then, .. } = root.progress(None);
            for test in [next, then].into_iter().flatten() {
                finished.ran_over(&test);
                for reply in test.replies(plan.request.rules) {
                    // Openings that begin with an again-move have two moves.
                    if let Reply::Test { test, same: true } = reply {
                        finished.ran_over(&test);
                    }
                }
            }
            parts.push(root);
        }
        (parts, finished)
    }
}

impl<'s> Prover<'_, 's> {
    /// The extraction of claims from the solver's proofs.
    fn extraction<'p>(&'p self, checkers: &'p Checkers<'s>) -> Extraction<'p, 's> {
        let plan = self.directory.plan();
        Extraction {
            solver: self.solver,
            table_seeds: plan.table_seeds() as u32,
            checkers,
            research_limit: RESEARCH_LIMIT_FACTOR << plan.effort.min(50),
            cancel: &self.options.cancel,
        }
    }
}
