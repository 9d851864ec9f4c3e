use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use anyhow::{Context, bail};
use clap::Args;
use indicatif::{HumanBytes, HumanCount};
use kalah::certificate::{
    CertificateFile, Check as Checked, CheckError, CheckIdentity, Head, SaveTasks, Statement, Tally, Tasks, open_copied,
};
use kalah::file::{FileContent, FileLock, remove_leftovers, require_writable};
use kalah::game::{Position, ValueBounds};
use kalah::progress::Pulse;
use kalah::system::available_memory;
use kalah::table::{TableKey, Tables};
use serde::Serialize;

use super::outcome::Outcome;
use super::progress::Progress;
use super::signals::stopped_by_signal;
use super::tables_origin::{TablesAnswer, TablesOrigin};
use super::{args, output, version};

/// Check a certificate: every claim, and what it states
///
/// Every claim is checked on its own, from the rules and the tables alone, by code that shares nothing with the solver:
/// each bound must follow in one ply from other claims, ends of games and tables, or from searches of at most 2^k
/// nodes, where k is the effort that the certificate names. The tables are compared with their digests first, frame by
/// frame. Exits 3 when the file or a table is damaged, a table is another one, a claim does not hold (the first in the
/// order of the file is named), the statement does not follow from the claims, or nothing is stated.
#[derive(Args)]
pub struct Check {
    /// The certificate
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Check only N claims, drawn at random, and the statement: this may find a false claim, but proves nothing
    #[arg(long, value_name = "N", conflicts_with = "state", value_parser = clap::value_parser!(u64).range(1..))]
    sample: Option<u64>,
    /// With --sample: where the random numbers start; the same number draws the same claims
    #[arg(long, value_name = "N", default_value_t = 0, requires = "sample")]
    random_seed: u64,
    /// Save in FILE which claims were checked, and continue from there; it is removed at the end
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Do not compare the tables with their digests: only for tables that `kalah verify` has compared and that nobody
    /// else can write to
    #[arg(long)]
    trust_tables: bool,
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
    /// `null` if nothing wrong was found and not every claim was checked.
    ok: Option<bool>,
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
    /// `null` if the proof rests on none.
    tables: Option<TablesAnswer>,
    claims: u64,
    /// `complete`, `sample`, or `stopped`.
    extent: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tally: Option<Tally>,
    /// Claims that this run has checked.
    this_run: u64,
    /// Claims that earlier runs have checked, as the state says.
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
    /// Claims checked by earlier runs, as the state says.
    earlier: u64,
    extent: Extent,
}

impl Found {
    fn stopped() -> Found {
        Found { tally: Tally::default(), earlier: 0, extent: Extent::Stopped }
    }

    /// Claims checked by this run.
    fn this_run(&self) -> u64 {
        self.tally.claims - self.earlier
    }
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
        let origin = TablesOrigin::of(head);
        if let Some(warning) = origin.as_ref().and_then(TablesOrigin::warning) {
            output::tell(warning);
        }
        let pulse = stopped_by_signal();
        let (found, wrong) = match self.open_and_check(&file, &pulse) {
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
                ok: match (&wrong, extent) {
                    (Some(_), _) => Some(false),
                    (None, Extent::Complete) => Some(true),
                    (None, Extent::Sample | Extent::Stopped) => None,
                },
                digest: output::hex(&file.digest),
                bytes: file.bytes,
                rules: statement.rules.name(),
                position: statement.position.to_string(),
                at_least,
                at_most,
                openings: statement.openings.iter().map(opening).collect(),
                effort: head.effort,
                table_seeds: head.table_seeds(),
                tables: origin.as_ref().map(|origin| origin.answer(!self.trust_tables)),
                claims: file.certificate.claims.len() as u64,
                extent: if wrong.is_some() { "wrong" } else { extent.name() },
                tally: found.as_ref().map(|found| found.tally),
                this_run: found.as_ref().map_or(0, Found::this_run),
                earlier: found.as_ref().map_or(0, |found| found.earlier),
                wrong,
                seconds,
            })?;
            return Ok(outcome);
        }
        match (wrong, found) {
            (Some(wrong), _) => output::line(format_args!("WRONG: {wrong}"))?,
            (None, Some(found)) => self.report(&file, origin.as_ref(), &found, seconds)?,
            (None, None) => {}
        }
        Ok(outcome)
    }

    /// Opens the tables and checks the certificate.
    fn open_and_check(&self, file: &CertificateFile, pulse: &Arc<Pulse>) -> anyhow::Result<Found> {
        let head = &file.certificate.head;
        let tables = match head.table_seeds() {
            0 => None,
            seeds => match self.open_tables(head, seeds, pulse)? {
                None => return Ok(Found::stopped()),
                tables => tables,
            },
        };
        let tables = tables.as_ref();
        let check = if self.trust_tables {
            Checked::trusting(&file.certificate, tables)?
        } else {
            let bytes = tables.map_or(0, |tables| tables.layers().iter().map(|table| table.header().file_bytes).sum());
            let progress = Progress::of(bytes, "bytes");
            progress.stage("comparing the tables with their digests".to_owned());
            let check = progress.watch(&pulse.positions, || Checked::new(&file.certificate, tables, pulse));
            progress.finish();
            let Some(check) = check? else { return Ok(Found::stopped()) };
            check
        };
        pulse.positions.store(0, Ordering::Relaxed);
        check.statement()?;
        self.check_claims(&check, file, pulse)
    }

    /// The tables that the proof rests on; `None` if `pulse` stopped it.
    fn open_tables(&self, head: &Head, seeds: usize, pulse: &Pulse) -> anyhow::Result<Option<Tables>> {
        let (directory, rules, pits) = (&self.tables.path, head.statement.rules, head.statement.position.pits());
        if self.trust_tables {
            let tables = Tables::open(directory, rules, pits, seeds)?;
            tables.require(seeds)?;
            return Ok(Some(tables));
        }
        // The other half is for what else runs, and for pages of the tables that are mapped.
        let memory = available_memory().unwrap_or(0) / 2;
        let keys = (2..=seeds).map(|seeds| TableKey { rules, pits, seeds });
        let bytes = keys.map(|key| key.path(directory).metadata().map_or(0, |metadata| metadata.len())).sum();
        let progress = Progress::of(bytes, "bytes");
        progress.stage("reading the tables".to_owned());
        let tables = progress.watch(&pulse.positions, || open_copied(directory, rules, pits, seeds, memory, pulse));
        progress.finish();
        pulse.positions.store(0, Ordering::Relaxed);
        Ok(tables?)
    }

    /// Checks a sample of the claims, or all.
    fn check_claims(&self, check: &Checked, file: &CertificateFile, pulse: &Arc<Pulse>) -> anyhow::Result<Found> {
        let claims = file.certificate.claims.len() as u64;
        let Some(count) = self.sample else { return self.check_all(check, file, pulse) };
        let progress = Progress::of(count.min(claims), "claims");
        progress.stage("checking a sample".to_owned());
        let tally = progress.watch(&pulse.positions, || check.sample(count, self.random_seed, pulse));
        progress.finish();
        Ok(match tally? {
            Some(tally) if tally.claims == claims => Found { tally, earlier: 0, extent: Extent::Complete },
            Some(tally) => Found { tally, earlier: 0, extent: Extent::Sample },
            None => Found::stopped(),
        })
    }

    /// The check that a state belongs to.
    fn identity(&self, file: &CertificateFile) -> CheckIdentity {
        CheckIdentity {
            program: version::short(),
            certificate: output::hex(&file.digest),
            tables: file.certificate.head.tables_digest().as_ref().map(output::hex),
            trusts_tables: self.trust_tables,
        }
    }

    /// Checks all claims that no earlier run has checked.
    fn check_all(&self, check: &Checked, file: &CertificateFile, pulse: &Arc<Pulse>) -> anyhow::Result<Found> {
        let claims = file.certificate.claims.len() as u64;
        let (tasks, _lock) = match &self.state {
            None => (Tasks::new(self.identity(file), claims), None),
            Some(path) => {
                let lock = FileLock::beside(path)?;
                let cannot_write = || format!("cannot write {}", path.display());
                remove_leftovers(path).with_context(cannot_write)?;
                require_writable(path, Some(FileContent::State)).with_context(cannot_write)?;
                let tasks = Tasks::read(path, self.identity(file), claims);
                let tasks = tasks.with_context(|| format!("the state of a check in {}", path.display()))?;
                (tasks, Some(lock))
            }
        };
        let earlier = tasks.checked();
        let progress = Progress::of(claims - earlier, "claims");
        progress.stage("checking".to_owned());
        let save = self.state.as_ref().map(|path| move |tasks: &Tasks| tasks.write(path));
        let save = save.as_ref().map(|save| save as &SaveTasks);
        let tasks = progress.watch(&pulse.positions, || check.claims(tasks, pulse, save));
        progress.finish();
        let tasks = tasks?;
        let extent = if tasks.is_complete() { Extent::Complete } else { Extent::Stopped };
        if let (Some(path), Extent::Complete) = (&self.state, extent) {
            remove(path)?;
        }
        Ok(Found { tally: *tasks.tally(), earlier, extent })
    }

    /// Prints what was checked.
    fn report(
        &self,
        file: &CertificateFile,
        origin: Option<&TablesOrigin>,
        found: &Found,
        seconds: f64,
    ) -> anyhow::Result<()> {
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
        if let Some(origin) = origin {
            output::line(origin.text(!self.trust_tables))?;
        }
        let (checked, all) = (HumanCount(tally.claims), output::many(claims, "claim"));
        output::line(match found.extent {
            Extent::Complete => format!("{all}: every one was checked, and holds"),
            _ => format!("a sample, not a check: {checked} of {all} hold; the others were not checked"),
        })?;
        if self.state.is_some() {
            let (this_run, earlier) = (HumanCount(found.this_run()), HumanCount(found.earlier));
            let by = format!("{this_run} checked by this run, {earlier} by earlier runs of this program");
            output::line(format_args!("  {by}, as the state says"))?;
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
