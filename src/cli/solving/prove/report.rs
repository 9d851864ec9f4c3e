//! The answer of `kalah prove`.

use std::path::PathBuf;

use indicatif::HumanBytes;
use kalah::certificate::Statement;
use kalah::prove::RequestPart;
use serde::Serialize;

use crate::cli::output;
use crate::cli::output::proved::Proved;

/// Answer of the command.
#[derive(Serialize)]
pub struct ProveAnswer<'a> {
    pub position: String,
    pub rules: &'a str,
    pub proved: bool,
    #[serde(flatten)]
    pub bounds: Proved,
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

/// Opening of a statement.
#[derive(Serialize)]
pub struct OpeningAnswer {
    pub r#move: String,
    #[serde(flatten)]
    pub bounds: Proved,
}

/// Certificate that was written.
#[derive(Serialize)]
pub struct CertificateAnswer {
    pub file: PathBuf,
    pub effort: u32,
    pub table_seeds: usize,
    pub claims: u64,
    pub bytes: u64,
    pub digest: String,
}

/// Returns the openings of a statement.
pub fn openings(statement: &Statement, parts: &[RequestPart]) -> Vec<OpeningAnswer> {
    let both = statement.openings.iter().zip(parts);
    both.map(|(opening, part)| OpeningAnswer { r#move: part.name(), bounds: Proved::bounds(opening.bounds) }).collect()
}

/// Prints the openings as text.
pub fn openings_text(openings: &[OpeningAnswer]) -> std::io::Result<()> {
    let line = |OpeningAnswer { r#move, bounds }: &OpeningAnswer| format!("  {move:>7}  {}", bounds.words("unknown"));
    openings.iter().map(line).try_for_each(output::line)
}

/// Prints the answer as text.
pub fn text(answer: &ProveAnswer) -> std::io::Result<()> {
    output::line(&answer.position)?;
    openings_text(&answer.openings)?;
    output::line(format_args!("  value        {}", answer.value))?;
    output::line(format_args!(
        "  jobs         {} ({} by this process), {} split: {}, {:.1} s",
        answer.jobs,
        answer.ran,
        answer.split,
        output::many(answer.nodes, "node"),
        answer.job_seconds
    ))?;
    let Some(certificate) = &answer.certificate else { return Ok(()) };
    output::line(format_args!(
        "  certificate  {}: {}, {}, effort {}, tables to {} seeds",
        certificate.file.display(),
        output::many(certificate.claims, "claim"),
        HumanBytes(certificate.bytes),
        certificate.effort,
        certificate.table_seeds
    ))?;
    output::line(format_args!("  digest       {}", certificate.digest))
}
