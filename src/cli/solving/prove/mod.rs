//! `kalah prove`.
//!
//! | module | contents |
//! |---|---|
//! | `report` | the answer |

pub(in crate::cli) mod report;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use kalah::cancel::Cancel;
use kalah::certificate::{Checker, StoredCertificate};
use kalah::file::{StateError, temporary_beside};
use kalah::game::Position;
use kalah::prove::{ProofDirectory, ProofPlan, ProveError, ProveEvent, Prover, ProverOptions, Request, Wanted};
use kalah::solve::{SearchTables, Solver};

use crate::cli::solving::book::file::read_certificate;
use crate::cli::solving::prove::report::{CertificateAnswer, ProveAnswer, stated};
use crate::cli::{
    Context, Outcome, Progress, SolverFlags, Stoppable, args, cancel_on_signal, examples, failure, message, output,
    usage,
};

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
    /// Position [default: that of the proof in DIR or of --from, under its rules]
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
    /// Works on the proof.
    pub(crate) fn run(mut self) -> failure::Result<Outcome> {
        if self.status {
            return report::run_status(&self.proof, self.json);
        }
        let there = ProofDirectory::open(&self.proof)?;
        let effort = self.effort.or(there.as_ref().map(|there| there.plan().effort)).unwrap_or(ProofPlan::EFFORT);
        self.with.leave_memory_to_claims(effort);
        let from = self.from.as_deref().map(read_certificate).transpose()?;
        let begun = there.map(|there| there.plan().request);
        let begun = begun.or(from.as_ref().map(|(head, _)| Request::of(&head.statement)));
        let (request, book) = (self.request(begun)?, from.map(|(_, book)| book));
        self.require_writable()?;
        self.with.threads.start()?;
        let cancel = Cancel::new();
        let tables = self.with.open_tables(&request.position, &cancel)?;
        // Checkers read the tables too, from the page cache.
        let solver = self
            .with
            .solver(&request.position, &tables, &cancel, |options| options.others_read_tables().book(book.as_ref()))?;
        cancel_on_signal(&cancel);
        let directory = ProofDirectory::open_or_begin(&self.proof, || self.plan(request, &solver, &tables))?;
        self.matches(&request, directory.plan())?;
        let _lock = (!self.share).then(|| directory.lock()).transpose()?;
        self.prove(&directory, &solver, &tables, cancel.clone())
            .if_stopped("stopped; finished jobs are kept; run the same command again to continue")
    }

    /// Returns an error if the certificate cannot be written to its file, before hours of work.
    fn require_writable(&self) -> failure::Result<()> {
        let Some(path) = &self.certificate else { return Ok(()) };
        if path.exists() {
            // That of an earlier run.
            StoredCertificate::open(path)?;
        }
        temporary_beside(path).map(drop).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Returns the statement to prove: that of the flags, or else that of the proof or certificate that has `begun`.
    fn request(&mut self, begun: Option<Request>) -> failure::Result<Request> {
        let position = match (self.position, begun) {
            (Some(position), _) => position,
            (None, Some(begun)) => {
                output::require_rules_of("the proof", begun.rules, self.with.rules)?;
                self.with.rules = begun.rules;
                begun.position
            }
            (None, None) => {
                return Err(usage("give a position to prove, or the directory of an existing proof with --proof"));
            }
        };
        let begun = begun.filter(|begun| (begun.position, begun.rules) == (position, self.with.rules));
        let wanted = match (self.value, self.at_least, self.at_most, self.openings) {
            (Some(value), ..) => Wanted::Value(value),
            (_, Some(value), ..) => Wanted::AtLeast(value),
            (_, _, Some(value), _) => Wanted::AtMost(value),
            (.., true) => Wanted::Openings,
            _ => begun.map_or(Wanted::Find, |begun| begun.wanted),
        };
        Ok(Request { rules: self.with.rules, position, wanted })
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
        let (effort, seeds) = (self.effort.unwrap_or(plan.effort), self.rests_on.map(usize::from));
        let expected = describe(request, effort, seeds.unwrap_or(plan.table_seeds()));
        let found = describe(&plan.request, plan.effort, plan.table_seeds());
        if expected == found {
            return Ok(());
        }
        Err(StateError::other(&self.proof, "it proves", found, expected).into())
    }

    /// Runs jobs until the proof is finished, and writes the certificate.
    fn prove(
        &self,
        directory: &ProofDirectory,
        solver: &Solver,
        tables: &SearchTables,
        cancel: Cancel,
    ) -> failure::Result<Outcome> {
        let (start, plan, progress) = (Instant::now(), directory.plan(), Progress::open());
        let on_event = |event: ProveEvent| report::event(&progress, &event);
        let options = ProverOptions { budget: self.budget, share: self.share, patience: self.patience, cancel };
        let path = self.certificate.clone().unwrap_or_else(|| directory.certificate_path());
        let prover = Prover { solver, tables: tables.tables(), directory, options, on_event: &on_event };
        let (state, file) = progress.search(solver, || prover.prove(&path))?;
        let certificate = file.map(|file| CertificateAnswer {
            file: path,
            effort: plan.effort,
            table_seeds: plan.table_seeds(),
            claims: file.claims(),
            bytes: file.bytes(),
            digest: output::hex(&file.digest()),
        });
        let Request { position, rules, .. } = plan.request;
        let (bounds, openings) = stated(&plan.statement(&state.parts));
        let answer = ProveAnswer {
            position,
            rules,
            proved: state.is_proved(),
            bounds,
            openings,
            jobs: report::proved(&state.jobs),
            ran: state.ran,
            split: state.jobs.len() - report::proved(&state.jobs),
            nodes: state.jobs.iter().map(|job| job.nodes).sum(),
            job_seconds: report::seconds(&state.jobs),
            seconds: start.elapsed().as_secs_f64(),
            certificate,
        };
        output::answer(self.json, &answer, || answer.text())?;
        if answer.proved {
            return Ok(Outcome::Done);
        }
        message!("WRONG: {}: the value is {}, as proved", plan.request, answer.bounds.words("unknown"));
        Ok(Outcome::Wrong)
    }
}
