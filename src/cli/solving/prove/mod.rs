//! `kalah prove`.
//!
//! | module | contents |
//! |---|---|
//! | `report` | the answer |

mod report;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use kalah::answer::Value;
use kalah::cancel::Cancel;
use kalah::certificate::Checker;
use kalah::file::{FileContent, StateError, require_apart, require_writable};
use kalah::game::Position;
use kalah::prove::{Job, ProofDirectory, ProofPlan, ProveError, ProveEvent, Prover, ProverOptions, Request, Wanted};
use kalah::solve::{SearchTables, Solver};

use crate::cli::solving::check::report::value_text;
use crate::cli::solving::prove::report::{CertificateAnswer, ProveAnswer, Source, openings, text};
use crate::cli::{
    Context, Outcome, SearchProgress, SolverFlags, Stoppable, args, cancel_on_signal, examples, failure, message,
    output, usage,
};

/// Without searches in the check, claims may take one part in this many of `--memory`. One more effort halves their
/// number.
const CLAIM_PARTS: u64 = 2;

/// Prove a value in resumable jobs, and write a certificate
///
/// Use this for a proof that others can check with `kalah check`, or that takes days or several machines. The proof is
/// split into jobs, and finished jobs are kept, so run the same command again to continue. With --share any number of
/// processes work on it. Write a position as 6x4 (6 pits a side, 4 seeds in each), or as two rows
/// (0,0,1,0,2,1/1,0,0,3,0,0). With stores, write <m,S,N,s1..sm,n1..nm>: pits a side, both stores, both rows. The mover
/// is South, whose store and row come first. Each row begins with its owner's pit 1. See docs/proving.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Prove the value of Kalah(6,4), and write a certificate", "kalah prove 6x4 --proof proof"),
    ("Continue a proof together with other processes", "kalah prove --proof proof --share"),
    ("Show its progress", "kalah prove --proof proof --status"),
]))]
#[command(group = clap::ArgGroup::new("wanted").args(["value", "at_least", "at_most", "openings"]))]
pub(crate) struct Prove {
    /// Position [default: position and rules of the proof in DIR or of --from]
    position: Option<Position>,
    /// Keep the plan and the jobs of the proof in DIR
    #[arg(long, value_name = "DIR")]
    proof: PathBuf,
    /// Prove that the value is V [default: find the value and prove it]
    #[arg(long, value_name = "V", allow_negative_numbers = true)]
    value: Option<i64>,
    /// Prove that the value is at least V
    #[arg(long, value_name = "V", allow_negative_numbers = true)]
    at_least: Option<i64>,
    /// Prove that the value is at most V
    #[arg(long, value_name = "V", allow_negative_numbers = true)]
    at_most: Option<i64>,
    /// Prove the value of every first turn, including those of several moves
    #[arg(long)]
    openings: bool,
    /// Let the check of a claim search up to 2^K nodes; larger K make the certificate smaller [default: 14]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=Checker::MAX_EFFORT as i64))]
    effort: Option<u32>,
    /// Let the certificate rest on the tables up to N seeds; 0 for none [default: all exact tables in use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=64))]
    rests_on: Option<u16>,
    /// After this many nodes, split a job into jobs for the positions after its moves
    #[arg(long, value_name = "NODES", default_value_t = 1 << 26, value_parser = clap::value_parser!(u64).range(1..))]
    budget: u64,
    /// Share the work with all processes that run this command, on any number of machines
    #[arg(long)]
    share: bool,
    /// With --share: treat another process as dead after this time without a sign of life
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = args::patience)]
    patience: Duration,
    /// Write the certificate to FILE [default: in DIR, named by rules and position]
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Use the claims of this certificate while searching, to make a certificate of the same proof with another
    /// effort or on other tables. The new claims are checked as always [default statement: that of FILE]
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Only show proved values and finished jobs
    #[arg(long, conflicts_with_all = ["share", "certificate", "from"])]
    status: bool,
    #[command(flatten)]
    with: SolverFlags,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Prove {
    /// Works on the proof. Without a position and with `default_rules`, both are taken from the existing proof or
    /// from the certificate of `--from`.
    pub(crate) fn run(mut self, default_rules: bool) -> failure::Result<Outcome> {
        if self.status {
            return report::run_status(&self.proof, self.json);
        }
        let there = ProofDirectory::open(&self.proof)?;
        let effort = self.effort.or(there.as_ref().map(|there| there.plan().effort)).unwrap_or(ProofPlan::EFFORT);
        self.with.leave_memory(CLAIM_PARTS << effort);
        let there = there.map(|there| there.plan().request);
        let from = self.from.as_deref().map(Source::read).transpose()?;
        let begun = there.or(from.as_ref().map(|from| from.request));
        let request = match (self.position, begun) {
            (None, Some(begun)) => {
                if default_rules {
                    self.with.rules = begun.rules;
                }
                self.request(begun.position, Some(begun))
            }
            (None, None) => {
                return Err(usage("give a position to prove, or the directory of an existing proof with --proof"));
            }
            (Some(position), begun) => self.request(position, begun),
        };
        self.require_writable()?;
        let position = request.position;
        let book = from.map(|from| from.book(&request)).transpose()?;
        self.with.threads.start()?;
        let cancel = Cancel::new();
        let tables = self.with.open_tables(&position, &cancel)?;
        // Checkers read the tables too, from the page cache.
        let solver = self
            .with
            .solver(&position, &tables, &cancel, |options| options.others_read_tables().book(book.as_ref()))?;
        cancel_on_signal(&cancel);
        let directory = ProofDirectory::open_or_begin(&self.proof, || self.plan(request, &solver, &tables))?;
        self.matches(&request, directory.plan())?;
        let _lock = (!self.share).then(|| directory.lock()).transpose()?;
        let progress = SearchProgress::new();
        let work = Work { prove: &self, directory: &directory, tables: &tables, progress: &progress, cancel };
        let outcome = progress.watch(&solver, || work.run(&solver));
        progress.finish();
        outcome.if_stopped("stopped; finished jobs are kept; run the same command again to continue")
    }

    /// Returns an error if the certificate cannot be written to its file, before hours of work.
    fn require_writable(&self) -> failure::Result<()> {
        let Some(path) = &self.certificate else { return Ok(()) };
        require_apart(path, self.from.as_deref())
            .and_then(|()| require_writable(path, Some(FileContent::Certificate)))
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// Returns the statement to prove, from the flags, or else from the existing proof.
    fn request(&self, position: Position, begun: Option<Request>) -> Request {
        let begun = begun.filter(|begun| (begun.position, begun.rules) == (position, self.with.rules));
        let wanted = match (self.value, self.at_least, self.at_most, self.openings) {
            (Some(value), ..) => Wanted::Value(value),
            (_, Some(value), ..) => Wanted::AtLeast(value),
            (_, _, Some(value), _) => Wanted::AtMost(value),
            (.., true) => Wanted::Openings,
            _ => begun.map_or(Wanted::Find, |begun| begun.wanted),
        };
        Request { rules: self.with.rules, position, wanted }
    }

    /// Returns the plan of a new proof.
    fn plan(&self, request: Request, solver: &Solver, tables: &SearchTables) -> Result<ProofPlan, ProveError> {
        let found = solver.table_seeds().unwrap_or(0);
        let wanted = self.rests_on.map_or(found, usize::from);
        if wanted > found {
            return Err(ProveError::missing_tables(wanted, found));
        }
        let layers = tables.tables().into_iter().flat_map(|tables| tables.layers()).take(wanted.saturating_sub(1));
        let digests = layers.map(|table| table.header().digest).collect();
        let parts = request.parts(solver)?;
        Ok(ProofPlan { request, effort: self.effort.unwrap_or(ProofPlan::EFFORT), tables: digests, parts })
    }

    /// Returns an error if the proof in the directory has another plan.
    fn matches(&self, request: &Request, plan: &ProofPlan) -> Result<(), ProveError> {
        let describe = |request: &Request, effort: u32, seeds: usize| {
            format!("{request} with effort {effort} and tables to {seeds} seeds")
        };
        let effort = self.effort.unwrap_or(plan.effort);
        let seeds = self.rests_on.map_or(plan.table_seeds(), usize::from);
        let expected = describe(request, effort, seeds);
        let found = describe(&plan.request, plan.effort, plan.table_seeds());
        if expected == found {
            return Ok(());
        }
        let what = format!("it proves {found}, not {expected}");
        Err(StateError::Other { path: self.proof.clone(), what }.into())
    }
}

/// Process that works on a proof.
struct Work<'a> {
    prove: &'a Prove,
    directory: &'a ProofDirectory,
    tables: &'a SearchTables,
    progress: &'a SearchProgress,
    cancel: Cancel,
}

impl Work<'_> {
    fn run(&self, solver: &Solver) -> failure::Result<Outcome> {
        let Work { prove, directory, .. } = *self;
        let start = Instant::now();
        let plan = directory.plan();
        let on_event = |event: ProveEvent| self.event(event);
        let options = ProverOptions {
            budget: prove.budget,
            share: prove.share,
            patience: prove.patience,
            cancel: self.cancel.clone(),
        };
        let path = prove.certificate.clone().unwrap_or_else(|| directory.certificate_path());
        let prover = Prover { solver, tables: self.tables.tables(), directory, options, on_event: &on_event };
        let (state, file) = prover.prove(&path)?;
        let certificate = file.map(|file| CertificateAnswer {
            file: path,
            effort: plan.effort,
            table_seeds: plan.table_seeds(),
            claims: file.claims(),
            bytes: file.bytes(),
            digest: output::hex(&file.digest()),
        });
        let statement = plan.statement(&state.parts);
        let proved = proved(&state.jobs);
        let answer = ProveAnswer {
            position: plan.request.position.to_string(),
            rules: plan.request.rules.name(),
            proved: state.is_proved(),
            bounds: Value::new(statement.bounds),
            value: value_text(&plan.request.position, statement.bounds),
            openings: openings(&statement, &plan.parts),
            jobs: proved,
            ran: state.ran,
            split: state.jobs.len() - proved,
            nodes: state.jobs.iter().map(|job| job.nodes).sum(),
            job_seconds: report::seconds(&state.jobs),
            seconds: start.elapsed().as_secs_f64(),
            certificate,
        };
        self.progress.print(|| output::answer(prove.json, &answer, || text(&answer)))?;
        if answer.proved {
            return Ok(Outcome::Done);
        }
        message!("WRONG: {}: the value is {}, as proved", plan.request, answer.value);
        Ok(Outcome::Wrong)
    }

    fn event(&self, event: ProveEvent) {
        match event {
            ProveEvent::Begin(test) => self.progress.stage(format!("job: {test}?")),
            ProveEvent::Waiting => self.progress.stage("waiting: other processes run the last jobs".to_owned()),
            ProveEvent::Collecting => self.progress.stage("collecting the claims".to_owned()),
            ProveEvent::Checking(claims) => {
                self.progress.stage(format!("checking the certificate: {}", output::many(claims as u64, "claim")));
            }
            ProveEvent::Wrong(path) => self.progress.line(&format!(
                "kalah: {}: the result of this job does not follow; the job was removed and is run again",
                path.display()
            )),
            ProveEvent::Finished { job, claims, jobs, left } => {
                let answer = match job.answer {
                    Some(true) => "yes",
                    Some(false) => "no",
                    None => "over its budget, split",
                };
                let proved = proved(jobs);
                self.progress.note(&format!(
                    "{}? {answer}; {}, {:.1} s, {} | {} proved, {} split, {left} left",
                    job.test,
                    output::many(job.nodes, "node"),
                    job.seconds,
                    output::many(claims as u64, "claim"),
                    output::count(proved, "job"),
                    jobs.len() - proved,
                ));
            }
            _ => {}
        }
    }
}

/// Number of jobs that decided their test.
fn proved(jobs: &[Job]) -> usize {
    jobs.iter().filter(|job| job.answer.is_some()).count()
}
