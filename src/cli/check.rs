use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, bail};
use clap::Args;
use indicatif::{HumanBytes, HumanCount};
use kalah::certificate::{CertificateFile, Check as Checked, CheckError, Statement, Tally, Tasks};
use kalah::file::{FileLock, remove_leftovers};
use kalah::game::{Position, ValueBounds};
use kalah::progress::Pulse;
use kalah::table::Tables;
use serde::Serialize;

use super::outcome::Outcome;
use super::progress::Progress;
use super::signals::stopped_by_signal;
use super::{args, output};

/// Check a certificate: every claim, and what it states
///
/// Every claim is checked on its own, from the rules and the tables alone, by code that shares nothing with the solver:
/// each bound must follow in one ply from other claims, ends of games and tables, or from searches of at most 2^k
/// nodes, where k is the effort that the certificate names. Exits 3 when the file is damaged, a table is another one, a
/// claim does not hold (the first in the order of the file is named), or the statement does not follow from the claims.
#[derive(Args)]
pub struct Check {
    /// The certificate
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Check only N claims, drawn at random, and the statement; with 0 the statement alone
    #[arg(long, value_name = "N", conflicts_with = "state")]
    sample: Option<u64>,
    /// With --sample: where the random numbers start; the same number draws the same claims
    #[arg(long, value_name = "N", default_value_t = 0, requires = "sample")]
    random_seed: u64,
    /// Save in FILE which claims were checked, and continue from there; it is removed at the end
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tables: args::Directory,
    #[command(flatten)]
    threads: args::Threads,
}

/// The answer as JSON.
#[derive(Serialize)]
struct Answer {
    ok: bool,
    digest: String,
    bytes: u64,
    rules: &'static str,
    position: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_most: Option<i64>,
    openings: Vec<OpeningAnswer>,
    effort: u32,
    /// Seeds of the largest table that the proof rests on.
    table_seeds: usize,
    claims: u64,
    /// `complete`, `sample`, or `stopped`.
    extent: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tally: Option<Tally>,
    /// Claims that an earlier run has checked.
    earlier: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong: Option<String>,
    seconds: f64,
}

#[derive(Serialize)]
struct OpeningAnswer {
    moves: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_most: Option<i64>,
}

/// What a run has found.
struct Found {
    tally: Tally,
    earlier: u64,
    extent: Extent,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Complete,
    Sample,
    Stopped,
}

impl Extent {
    fn name(self) -> &'static str {
        match self {
            Extent::Complete => "complete",
            Extent::Sample => "sample",
            Extent::Stopped => "stopped",
        }
    }
}

impl Check {
    pub fn run(self) -> anyhow::Result<Outcome> {
        self.threads.start()?;
        let start = Instant::now();
        let file = CertificateFile::read(&self.file)?;
        let head = &file.certificate.head;
        output::note(description(&file));
        let tables = self.open_tables(&file)?;
        let found = self.check(&file, tables.as_ref());
        let (found, wrong) = match found {
            Ok(found) => (Some(found), None),
            Err(error) if error.downcast_ref().is_some_and(CheckError::is_wrong) => (None, Some(error.to_string())),
            Err(error) => return Err(error),
        };
        let seconds = start.elapsed().as_secs_f64();
        let extent = found.as_ref().map_or(Extent::Stopped, |found| found.extent);
        let outcome = match (&wrong, extent) {
            (Some(_), _) => Outcome::Wrong,
            (None, Extent::Stopped) => Outcome::Failed,
            (None, _) => Outcome::Done,
        };
        if self.json {
            let statement = &head.statement;
            let opening = |opening: &kalah::certificate::Opening| {
                let (at_least, at_most) = stated(&statement.position, opening.bounds);
                OpeningAnswer { moves: statement.line(opening).to_string(), at_least, at_most }
            };
            let (at_least, at_most) = stated(&statement.position, statement.bounds);
            output::json(&Answer {
                ok: wrong.is_none() && extent != Extent::Stopped,
                digest: output::hex(&file.digest),
                bytes: file.bytes,
                rules: statement.rules.name(),
                position: statement.position.to_string(),
                at_least,
                at_most,
                openings: statement.openings.iter().map(opening).collect(),
                effort: head.effort,
                table_seeds: head.table_seeds(),
                claims: file.certificate.claims.len() as u64,
                extent: if wrong.is_some() { "wrong" } else { extent.name() },
                tally: found.as_ref().map(|found| found.tally),
                earlier: found.as_ref().map_or(0, |found| found.earlier),
                wrong,
                seconds,
            })?;
            return Ok(outcome);
        }
        match (wrong, found) {
            (Some(wrong), _) => output::line(format_args!("WRONG: {wrong}"))?,
            (None, Some(found)) => self.report(&file, &found, seconds)?,
            (None, None) => {}
        }
        Ok(outcome)
    }

    /// The tables that the proof rests on, if there are any.
    fn open_tables(&self, file: &CertificateFile) -> anyhow::Result<Option<Tables>> {
        let head = &file.certificate.head;
        let (seeds, pits) = (head.table_seeds(), head.statement.position.pits());
        if seeds == 0 {
            return Ok(None);
        }
        let tables = Tables::open(&self.tables.path, head.statement.rules, pits, seeds)?;
        tables.require(seeds)?;
        Ok(Some(tables))
    }

    /// Checks the statement, then the claims.
    fn check(&self, file: &CertificateFile, tables: Option<&Tables>) -> anyhow::Result<Found> {
        let check = Checked::new(&file.certificate, tables)?;
        check.statement()?;
        let claims = file.certificate.claims.len() as u64;
        let pulse = stopped_by_signal()?;
        let Some(count) = self.sample else { return self.check_all(&check, file, &pulse) };
        let progress = Progress::of(count.min(claims), "claims");
        progress.stage("checking a sample".to_owned());
        let tally = progress.watch(&pulse.positions, || check.sample(count, self.random_seed, &pulse));
        progress.finish();
        let (tally, extent) = match tally? {
            Some(tally) if tally.claims == claims => (tally, Extent::Complete),
            Some(tally) => (tally, Extent::Sample),
            None => (Tally::default(), Extent::Stopped),
        };
        Ok(Found { tally, earlier: 0, extent })
    }

    /// Checks all claims that no earlier run has checked.
    fn check_all(&self, check: &Checked, file: &CertificateFile, pulse: &Arc<Pulse>) -> anyhow::Result<Found> {
        let claims = file.certificate.claims.len() as u64;
        let (tasks, _lock) = match &self.state {
            None => (Tasks::new(file.digest, claims), None),
            Some(path) => {
                let lock = FileLock::beside(path)?;
                remove_leftovers(path)?;
                let tasks = Tasks::read(path, file.digest, claims);
                let tasks = tasks.with_context(|| format!("the state of a check in {}", path.display()))?;
                (tasks, Some(lock))
            }
        };
        let earlier = tasks.checked();
        let progress = Progress::of(claims - earlier, "claims");
        progress.stage("checking".to_owned());
        let save = |tasks: &Tasks| self.state.as_ref().map_or(Ok(()), |path| tasks.write(path));
        let tasks = progress.watch(&pulse.positions, || check.claims(tasks, pulse, &save));
        progress.finish();
        let tasks = tasks?;
        let extent = if tasks.is_complete() { Extent::Complete } else { Extent::Stopped };
        if let (Some(path), Extent::Complete) = (&self.state, extent) {
            remove(path)?;
        }
        Ok(Found { tally: *tasks.tally(), earlier, extent })
    }

    /// Prints what was checked.
    fn report(&self, file: &CertificateFile, found: &Found, seconds: f64) -> anyhow::Result<()> {
        let (tally, claims) = (&found.tally, file.certificate.claims.len() as u64);
        if found.extent == Extent::Stopped {
            let kept = match (self.sample, &self.state) {
                (None, Some(_)) => "the same command goes on from there",
                (None, None) => "nothing of it is kept: --state FILE keeps it",
                (Some(_), _) => "the same command begins again",
            };
            let (checked, claims) = (HumanCount(tally.claims), output::many(claims, "claim"));
            let how_far = format!("stopped: {checked} of {claims} were checked, and hold; {kept}");
            output::tell(if self.sample.is_some() { format!("stopped; {kept}") } else { how_far });
            return Ok(());
        }
        output::line(format_args!("{}, digest {}", self.file.display(), output::hex(&file.digest)))?;
        output::line(statement_text(&file.certificate.head.statement))?;
        let of_all = match found.extent {
            Extent::Complete => format!("{}: every one was checked, and holds", output::many(claims, "claim")),
            _ if tally.claims == 0 => {
                format!("the statement follows from {}; none of them was checked", output::many(claims, "claim"))
            }
            _ => format!(
                "a sample of {} of {} holds; the others were not checked",
                HumanCount(tally.claims),
                output::many(claims, "claim")
            ),
        };
        output::line(of_all)?;
        if found.earlier > 0 {
            let earlier = HumanCount(found.earlier);
            output::line(format_args!("  of these, {earlier} were checked by earlier runs, as the state says"))?;
        }
        let bounds = [
            (tally.one_ply, "by one ply from other claims, ends and tables"),
            (tally.searched, "by a search"),
            (tally.one_ply_and_search, "by one ply and searches"),
            (tally.in_tables, "by a table"),
        ];
        for (count, how) in bounds.into_iter().filter(|(count, _)| *count > 0) {
            output::line(format_args!("  {} {how}", output::many(count, "bound")))?;
        }
        output::line(format_args!("  {} nodes of searches, {seconds:.1} s", HumanCount(tally.nodes)))?;
        Ok(())
    }
}

/// Removes a file that may not be there.
fn remove(path: &Path) -> anyhow::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            bail!("{} cannot be removed: {error}", path.display())
        }
        _ => Ok(()),
    }
}

/// The certificate in a few words.
fn description(file: &CertificateFile) -> String {
    let head = &file.certificate.head;
    let tables = match head.table_seeds() {
        0 => "no tables".to_owned(),
        seeds => format!("the tables to {seeds} seeds"),
    };
    format!(
        "{} in {}, effort {} (searches of at most 2^{} nodes), resting on {tables}",
        output::many(file.certificate.claims.len() as u64, "claim"),
        HumanBytes(file.bytes),
        head.effort,
        head.effort
    )
}

/// What is stated of a value, without trivial bounds.
fn stated(position: &Position, bounds: ValueBounds) -> (Option<i64>, Option<i64>) {
    let all = Statement::all_values(position);
    ((bounds.lower > all.lower).then_some(bounds.lower), (bounds.upper < all.upper).then_some(bounds.upper))
}

/// What is stated of a value, in words.
pub fn value_text(position: &Position, bounds: ValueBounds) -> String {
    match (bounds.value(), stated(position, bounds)) {
        (Some(value), _) => format!("{value:+}"),
        (None, (Some(lower), Some(upper))) => format!("{lower:+} to {upper:+}"),
        (None, (Some(lower), None)) => format!("at least {lower:+}"),
        (None, (None, Some(upper))) => format!("at most {upper:+}"),
        (None, (None, None)) => "not stated".to_owned(),
    }
}

/// A statement in words.
fn statement_text(statement: &Statement) -> String {
    let Statement { rules, position, bounds, openings } = statement;
    let mut text = format!("the value of {position} by {rules} for the mover: {}", value_text(position, *bounds));
    for opening in openings {
        text += &format!("\n  after {}: {}", statement.line(opening), value_text(position, opening.bounds));
    }
    text
}
