//! The answer of `kalah prove`.

use std::path::{Path, PathBuf};

use indicatif::{HumanBytes, HumanCount};
use kalah::answer::Value;
use kalah::book::{Book, BookFileError};
use kalah::certificate::{Certificate, ClaimSet, Statement};
use kalah::prove::{Job, ProofDirectory, Request, RequestPart, State};
use serde::Serialize;

use crate::cli::solving::check::report::OpeningAnswer;
use crate::cli::{Outcome, bail, failure, line, output};

/// Answer of the command.
#[derive(Serialize)]
pub(super) struct ProveAnswer<'a> {
    pub position: String,
    pub rules: &'a str,
    pub proved: bool,
    #[serde(flatten)]
    pub bounds: Value,
    /// Value in words, or its bounds.
    #[serde(skip)]
    pub value: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub openings: Vec<OpeningAnswer>,
    pub jobs: usize,
    /// Jobs that this process ran.
    pub ran: usize,
    pub split: usize,
    pub nodes: u64,
    pub job_seconds: f64,
    pub seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<CertificateAnswer>,
}

/// Certificate that was written.
#[derive(Serialize)]
pub(super) struct CertificateAnswer {
    pub file: PathBuf,
    pub effort: u32,
    pub table_seeds: usize,
    pub claims: u64,
    pub bytes: u64,
    pub digest: String,
}

/// Returns the openings of a statement.
pub(super) fn openings(statement: &Statement, parts: &[RequestPart]) -> Vec<OpeningAnswer> {
    let both = statement.openings.iter().zip(parts);
    both.map(|(opening, part)| OpeningAnswer { r#move: part.name(), bounds: Value::new(opening.bounds) }).collect()
}

/// Prints the openings as text.
pub(super) fn openings_text(openings: &[OpeningAnswer]) -> std::io::Result<()> {
    let line = |OpeningAnswer { r#move, bounds }: &OpeningAnswer| format!("  {move:>7}  {}", bounds.words("unknown"));
    openings.iter().map(line).try_for_each(output::line)
}

/// Prints the answer as text.
pub(super) fn text(answer: &ProveAnswer) -> std::io::Result<()> {
    output::line(&answer.position)?;
    openings_text(&answer.openings)?;
    line!("  value        {}", answer.value)?;
    line!(
        "  jobs         {} ({} by this process), {} split: {}, {:.1} s",
        answer.jobs,
        answer.ran,
        answer.split,
        output::many(answer.nodes, "node"),
        answer.job_seconds
    )?;
    let Some(certificate) = &answer.certificate else { return Ok(()) };
    line!(
        "  certificate  {}: {}, {}, effort {}, tables to {} seeds",
        certificate.file.display(),
        output::many(certificate.claims, "claim"),
        HumanBytes(certificate.bytes),
        certificate.effort,
        certificate.table_seeds
    )?;
    line!("  digest       {}", certificate.digest)
}

#[derive(Serialize)]
struct ProveStatusAnswer<'a> {
    position: String,
    rules: &'a str,
    /// Statement to prove.
    request: String,
    proved: bool,
    refuted: bool,
    #[serde(flatten)]
    bounds: Value,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    openings: Vec<OpeningAnswer>,
    effort: u32,
    table_seeds: usize,
    nodes: u64,
    seconds: f64,
    jobs: Vec<JobAnswer>,
}

#[derive(Serialize)]
struct JobAnswer {
    test: String,
    /// Result; `None` if the job ran over its budget and was split.
    answer: Option<bool>,
    nodes: u64,
    seconds: f64,
}

impl JobAnswer {
    fn new(job: &Job) -> JobAnswer {
        let Job { test, answer, nodes, seconds } = *job;
        JobAnswer { test: test.to_string(), answer, nodes, seconds }
    }
}

/// Returns the seconds of all jobs.
pub(super) fn seconds(jobs: &[Job]) -> f64 {
    // Not a `sum`, which is -0.0 without jobs.
    jobs.iter().fold(0.0, |sum, job| sum + job.seconds)
}

/// Shows the proof in a directory.
pub(super) fn run_status(path: &Path, json: bool) -> failure::Result<Outcome> {
    let Some(directory) = ProofDirectory::open(path)? else {
        bail!(
            "{}: there is no proof in this directory; start one with `kalah prove POSITION --proof DIR`",
            path.display()
        );
    };
    let state = State::read(&directory)?;
    let (plan, jobs) = (directory.plan(), &state.jobs);
    let statement = plan.statement(&state.parts);
    let answer = ProveStatusAnswer {
        position: plan.request.position.to_string(),
        rules: plan.request.rules.name(),
        request: plan.request.to_string(),
        proved: state.is_proved(),
        refuted: state.is_refuted(),
        bounds: Value::new(statement.bounds),
        openings: openings(&statement, &plan.parts),
        effort: plan.effort,
        table_seeds: plan.table_seeds(),
        nodes: jobs.iter().map(|job| job.nodes).sum(),
        seconds: seconds(jobs),
        jobs: jobs.iter().map(JobAnswer::new).collect(),
    };
    output::answer(json, &answer, || status_text(&answer))?;
    Ok(Outcome::Done)
}

fn status_text(answer: &ProveStatusAnswer) -> std::io::Result<()> {
    let state = match (answer.proved, answer.refuted) {
        (true, _) => "proved",
        (_, true) => "wrong",
        _ => "not proved yet",
    };
    line!("{}: {state}", answer.request)?;
    openings_text(&answer.openings)?;
    line!("  value  {}", answer.bounds.words("unknown"))?;
    for JobAnswer { test, answer, nodes, seconds, .. } in &answer.jobs {
        let answer = match answer {
            Some(true) => "yes",
            Some(false) => "no",
            None => "split",
        };
        line!("  {answer:<5} {:>15} nodes {seconds:>9.1} s  {test}", HumanCount(*nodes))?;
    }
    line!(
        "  {}, {}, {:.1} s",
        output::count(answer.jobs.len(), "job"),
        output::many(answer.nodes, "node"),
        answer.seconds
    )
}

/// Certificate to begin with.
pub(super) struct Source {
    path: PathBuf,
    /// Its statement.
    pub request: Request,
    claims: ClaimSet,
}

impl Source {
    /// Reads a certificate, and checks it against its checksums and its digest.
    pub(super) fn read(path: &Path) -> failure::Result<Source> {
        let certificate = Certificate::read(path)?;
        let request = Request::of(&certificate.head.statement);
        Ok(Source { path: path.to_owned(), request, claims: certificate.claims })
    }

    /// Returns its claims as a book for the search.
    pub(super) fn book(self, request: &Request) -> failure::Result<Book> {
        let Request { rules, position, .. } = self.request;
        let board = |request: &Request| (request.rules, request.position.pits());
        if board(&self.request) != board(request) {
            bail!(
                "{} is about {rules} with {}, not {} with {}",
                self.path.display(),
                output::count(position.pits(), "pit"),
                request.rules,
                request.position.pits()
            );
        }
        let mut book = Book::new(rules, position.pits());
        let added = book.add_all(self.claims.iter().map(|claim| (claim.position, claim.bounds)));
        added.map_err(|error| BookFileError { path: self.path.into(), error })?;
        Ok(book)
    }
}
