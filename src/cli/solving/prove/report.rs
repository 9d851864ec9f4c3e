//! The answer of `kalah prove`.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{HumanBytes, HumanCount, HumanDuration};
use kalah::answer::Value;
use kalah::certificate::Statement;
use kalah::game::{Position, Rules};
use kalah::prove::{Job, ProofDirectory, ProveError, ProveEvent, RequestPart, State, Status};
use serde::Serialize;

use crate::cli::solving::check::OpeningAnswer;
use crate::cli::{Outcome, Progress, failure, line, output};

/// Answer of the command.
#[derive(Serialize)]
pub(super) struct ProveAnswer {
    pub position: Position,
    pub rules: Rules,
    pub proved: bool,
    #[serde(flatten)]
    pub bounds: Value,
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
pub(super) fn openings_text(openings: &[OpeningAnswer]) -> io::Result<()> {
    let line = |OpeningAnswer { r#move, bounds }: &OpeningAnswer| format!("  {move:>7}  {}", bounds.words("unknown"));
    openings.iter().map(line).try_for_each(output::line)
}

impl ProveAnswer {
    /// Prints the answer as text.
    pub(super) fn text(&self) -> io::Result<()> {
        output::line(self.position)?;
        openings_text(&self.openings)?;
        line!("  value        {}", self.bounds.words("unknown"))?;
        let ProveAnswer { jobs, ran, split, nodes, job_seconds, .. } = self;
        let nodes = output::many(*nodes, "node");
        line!("  jobs         {jobs} ({ran} by this process), {split} split: {nodes}, {job_seconds:.1} s")?;
        if let Some(CertificateAnswer { file, effort, table_seeds, claims, bytes, digest }) = &self.certificate {
            let (file, claims, bytes) = (file.display(), output::many(*claims, "claim"), HumanBytes(*bytes));
            line!("  certificate  {file}: {claims}, {bytes}, effort {effort}, tables to {table_seeds} seeds")?;
            line!("  digest       {digest}")?;
        }
        output::default_rules(self.rules)
    }
}

#[derive(Serialize)]
struct ProveStatusAnswer {
    position: Position,
    rules: Rules,
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
    claims: usize,
    nodes: u64,
    seconds: f64,
    jobs: Vec<JobAnswer>,
}

#[derive(Serialize)]
struct JobAnswer {
    test: String,
    /// Result; `None` if the job ran over its budget and was split.
    answer: Option<bool>,
    budget: u64,
    nodes: u64,
    seconds: f64,
}

impl JobAnswer {
    fn new(job: &Job) -> JobAnswer {
        let answer = job.bounds.and_then(|bounds| job.test.decided_by(bounds));
        let Job { budget, nodes, seconds, .. } = *job;
        JobAnswer { test: job.test.to_string(), answer, budget, nodes, seconds }
    }
}

/// Shows the proof in a directory.
pub(super) fn run_status(path: &Path, json: bool) -> failure::Result<Outcome> {
    let directory = ProofDirectory::open(path)?.ok_or_else(|| ProveError::Empty(path.to_owned()))?;
    let Status { jobs, claims, parts } = Status::read(&directory)?;
    let plan = directory.plan();
    let statement = plan.statement(&parts);
    let answer = ProveStatusAnswer {
        position: plan.request.position,
        rules: plan.request.rules,
        request: plan.request.to_string(),
        proved: parts.iter().all(|part| part.next.is_none() && !part.is_refuted),
        refuted: parts.iter().any(|part| part.is_refuted),
        bounds: Value::new(statement.bounds),
        openings: openings(&statement, &plan.parts),
        effort: plan.effort,
        table_seeds: plan.table_seeds(),
        claims,
        nodes: jobs.iter().map(|job| job.nodes).sum(),
        // Not a `sum`, which is -0.0 without jobs.
        seconds: jobs.iter().fold(0.0, |sum, job| sum + job.seconds),
        jobs: jobs.iter().map(JobAnswer::new).collect(),
    };
    output::answer(json, &answer, || answer.text())?;
    Ok(Outcome::Done)
}

impl ProveStatusAnswer {
    fn text(&self) -> io::Result<()> {
        let state = match (self.proved, self.refuted) {
            (true, _) => "proved",
            (_, true) => "wrong",
            _ => "not proved yet",
        };
        line!("{}: {state}", self.request)?;
        openings_text(&self.openings)?;
        line!("  value  {}", self.bounds.words("unknown"))?;
        for JobAnswer { test, answer, nodes, seconds, .. } in &self.jobs {
            line!("  {:<5} {:>15} nodes {seconds:>9.1} s  {test}", result(*answer), HumanCount(*nodes))?;
        }
        let (jobs, claims) = (output::count(self.jobs.len(), "job"), output::many(self.claims as u64, "claim"));
        line!("  {jobs}, {claims}, {}, {:.1} s", output::many(self.nodes, "node"), self.seconds)
    }
}

/// Formats the result of a job.
fn result(answer: Option<bool>) -> &'static str {
    match answer {
        Some(true) => "yes",
        Some(false) => "no",
        None => "split",
    }
}

/// Shows an event of a proof.
pub(super) fn event(progress: &Progress, event: &ProveEvent) {
    match event {
        ProveEvent::Begin { test } => progress.stage(format!("job: {test}?")),
        ProveEvent::Extract { test, claims } => {
            progress.stage(format!("collecting claims of: {test}: {} so far", HumanCount(*claims as u64)));
        }
        ProveEvent::Waiting => progress.stage("waiting: other processes run the last jobs".to_owned()),
        ProveEvent::Collecting => progress.stage("collecting the claims".to_owned()),
        ProveEvent::Checking { claims } => {
            progress.stage(format!("checking the certificate: {}", output::many(*claims as u64, "claim")));
        }
        ProveEvent::Wrong { path } => progress.line(&format!(
            "kalah: {}: the result of this job does not follow; the job was removed and is run again",
            path.display()
        )),
        ProveEvent::Finished { job, claims, state } => {
            let JobAnswer { test, answer, nodes, seconds, .. } = JobAnswer::new(job);
            let (nodes, claims) = (output::many(nodes, "node"), output::many(*claims as u64, "claim"));
            let State { proved, split, left, is_more_left, seconds_left, .. } = **state;
            let (proved, left) = (output::count(proved, "job"), output::count(left, "job"));
            let more = if is_more_left { "more than " } else { "" };
            let time = HumanDuration(Duration::from_secs_f64(seconds_left.min(1e9)));
            progress.note(&format!(
                "{test}? {}; {nodes}, {seconds:.1} s, {claims} | {proved} proved, {split} split, {more}{left} left, \
                 about {time} of one process",
                result(answer)
            ));
        }
        _ => {}
    }
}
