//! The answer of `kalah prove`.

use std::io;
use std::path::{Path, PathBuf};

use indicatif::HumanBytes;
use kalah::answer::{OpeningAnswer, Value};
use kalah::certificate::{OpeningBounds, Statement};
use kalah::game::{Position, Rules};
use kalah::printable::commas;
use kalah::progress::total_seconds;
use kalah::prove::{Job, ProofDirectory, ProveEvent, State};
use serde::Serialize;

use crate::cli::{Outcome, Progress, bail, failure, line, output};

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

/// Returns what a statement says of its position and of the openings, without bounds that need no proof.
pub(in crate::cli) fn stated(statement: &Statement) -> (Value, Vec<OpeningAnswer>) {
    let value = |bounds| Value::new(bounds).beyond_stores(&statement.position);
    let opening = |opening: &OpeningBounds| OpeningAnswer {
        r#move: opening.name(),
        value: value(opening.bounds),
        ..OpeningAnswer::default()
    };
    (value(statement.bounds), statement.openings.iter().map(opening).collect())
}

/// Prints the openings as text.
pub(super) fn openings_text(openings: &[OpeningAnswer]) -> io::Result<()> {
    let line = |opening: &OpeningAnswer| format!("  {:>7}  {}", opening.r#move, opening.value.words("unknown"));
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

/// Returns the number of jobs that decided their test.
pub(super) fn proved(jobs: &[Job]) -> usize {
    jobs.iter().filter(|job| job.answer.is_some()).count()
}

/// Returns the seconds of all jobs.
pub(super) fn seconds(jobs: &[Job]) -> f64 {
    total_seconds(jobs.iter().map(|job| job.seconds))
}

/// Shows the proof in a directory.
pub(super) fn run_status(path: &Path, json: bool) -> failure::Result<Outcome> {
    let Some(directory) = ProofDirectory::open(path)? else {
        bail!("{}: there is no proof in this directory", path.display());
    };
    let state = State::read(&directory)?;
    let (plan, jobs) = (directory.plan(), &state.jobs);
    let (bounds, openings) = stated(&plan.statement(&state.parts));
    let answer = ProveStatusAnswer {
        position: plan.request.position,
        rules: plan.request.rules,
        request: plan.request.to_string(),
        proved: state.is_proved(),
        refuted: state.is_refuted(),
        bounds,
        openings,
        effort: plan.effort,
        table_seeds: plan.table_seeds(),
        nodes: jobs.iter().map(|job| job.nodes).sum(),
        seconds: seconds(jobs),
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
            line!("  {:<5} {} nodes {seconds:>9.1} s  {test}", result(*answer), commas(*nodes))?;
        }
        let (jobs, nodes) = (output::count(self.jobs.len(), "job"), output::many(self.nodes, "node"));
        line!("  {jobs}, {nodes}, {:.1} s", self.seconds)
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
        ProveEvent::Begin(test) => progress.stage(format!("job: {test}?")),
        ProveEvent::Waiting => progress.stage("waiting: other processes run the last jobs".to_owned()),
        ProveEvent::Collecting => progress.stage("collecting the claims".to_owned()),
        ProveEvent::Checking(claims) => {
            progress.stage(format!("checking the certificate: {}", output::many(*claims as u64, "claim")));
        }
        ProveEvent::Wrong(path) => progress.line(&format!(
            "kalah: {}: the result of this job does not follow; the job was removed and is run again",
            path.display()
        )),
        ProveEvent::Finished { job, claims, jobs, left } => {
            let JobAnswer { test, answer, nodes, seconds, .. } = JobAnswer::new(job);
            let (nodes, claims) = (output::many(nodes, "node"), output::many(*claims as u64, "claim"));
            let (proved, split) = (proved(jobs), jobs.len() - proved(jobs));
            let (result, proved) = (result(answer), output::count(proved, "job"));
            progress.note(&format!(
                "{test}? {result}; {nodes}, {seconds:.1} s, {claims} | {proved} proved, {split} split, {left} left"
            ));
        }
        _ => {}
    }
}
