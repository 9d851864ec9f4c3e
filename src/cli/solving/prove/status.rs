//! `kalah prove --status`: proved values and finished jobs.

use std::path::Path;

use indicatif::HumanCount;
use kalah::prove::{Job, ProofDirectory, ProveError, Running, Status};
use serde::Serialize;

use crate::cli::output;
use crate::cli::output::proved::Proved;
use crate::cli::process::outcome::Outcome;
use crate::cli::solving::prove::report::{OpeningAnswer, openings, openings_text};

#[derive(Serialize)]
struct ProveStatusAnswer<'a> {
    position: String,
    rules: &'a str,
    /// Statement to prove.
    request: String,
    proved: bool,
    refuted: bool,
    #[serde(flatten)]
    bounds: Proved,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    openings: Vec<OpeningAnswer>,
    effort: u32,
    table_seeds: usize,
    claims: usize,
    nodes: u64,
    seconds: f64,
    jobs: Vec<JobAnswer>,
    running: Vec<RunningAnswer>,
}

/// Job that a process runs with --share.
#[derive(Serialize)]
struct RunningAnswer {
    test: String,
    holder: String,
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
pub fn run(path: &Path, json: bool) -> anyhow::Result<Outcome> {
    let directory = ProofDirectory::open(path)?.ok_or_else(|| ProveError::Empty(path.to_owned()))?;
    let Status { jobs, running, claims, parts } = Status::read(&directory)?;
    let plan = directory.plan();
    let statement = plan.statement(&parts);
    let answer = ProveStatusAnswer {
        position: plan.request.position.to_string(),
        rules: plan.request.rules.name(),
        request: plan.request.to_string(),
        proved: parts.iter().all(|part| part.next.is_none() && !part.is_refuted),
        refuted: parts.iter().any(|part| part.is_refuted),
        bounds: Proved::bounds(statement.bounds),
        openings: openings(&statement, &plan.parts),
        effort: plan.effort,
        table_seeds: plan.table_seeds(),
        claims,
        nodes: jobs.iter().map(|job| job.nodes).sum(),
        // Not a `sum`, which is -0.0 without jobs.
        seconds: jobs.iter().fold(0.0, |sum, job| sum + job.seconds),
        jobs: jobs.iter().map(JobAnswer::new).collect(),
        running: running
            .into_iter()
            .map(|Running { test, holder }| RunningAnswer { test: test.to_string(), holder })
            .collect(),
    };
    output::answer(json, &answer, || text(&answer))?;
    Ok(Outcome::Done)
}

fn text(answer: &ProveStatusAnswer) -> std::io::Result<()> {
    let state = match (answer.proved, answer.refuted) {
        (true, _) => "proved",
        (_, true) => "wrong",
        _ => "not proved yet",
    };
    output::line(format_args!("{}: {state}", answer.request))?;
    openings_text(&answer.openings)?;
    output::line(format_args!("  value  {}", answer.bounds.words("unknown")))?;
    for JobAnswer { test, answer, nodes, seconds, .. } in &answer.jobs {
        let answer = match answer {
            Some(true) => "yes",
            Some(false) => "no",
            None => "split",
        };
        output::line(format_args!("  {answer:<5} {:>15} nodes {seconds:>9.1} s  {test}", HumanCount(*nodes)))?;
    }
    for RunningAnswer { test, holder } in &answer.running {
        output::line(format_args!("  run by {holder}: {test}"))?;
    }
    output::line(format_args!(
        "  {}, {}, {}, {:.1} s",
        output::count(answer.jobs.len(), "job"),
        output::many(answer.claims as u64, "claim"),
        output::many(answer.nodes, "node"),
        answer.seconds
    ))
}
