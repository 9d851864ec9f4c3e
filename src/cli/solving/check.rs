use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Instant;

use clap::Args;
use kalah::answer::{OpeningAnswer, Value};
use kalah::certificate::{Check as Checked, CheckIdentity, CheckTally, Head, StoredCertificate, digest_of_tables};
use kalah::file::StateFile;
use kalah::game::{Position, Rules};
use kalah::printable::commas;
use kalah::table::{Manifest, TableKey, Tables};
use serde::Serialize;

use crate::cli::solving::prove::report::stated;
use crate::cli::{
    Outcome, Progress, Stoppable, args, bail, examples, failure, line, message, output, program, stopped_by_signal,
};

/// Check a certificate: every claim, and its statement
///
/// Use this to convince yourself of a proof from elsewhere. Every claim is checked on its own, from the rules and the
/// tables alone, by code that is independent of the solver. Each bound must follow in one ply from other claims, ends
/// of games and tables, or from searches of at most 2^k nodes, where k is the effort of the certificate. Effort 0
/// allows no search. First, every frame of the tables is compared with its digest. Exits 3 if the file or a table is
/// damaged, or a table differs; also if a claim is false (the first in the file is reported), or the statement is
/// empty or does not follow. See docs/proving.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Check every claim of a certificate", "kalah check kalah-6x4.certificate"),
    ("Check in several runs", "kalah check kalah-6x6.certificate --state check.json"),
]))]
pub(crate) struct Check {
    /// Certificate to check
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Save progress in FILE, and continue from it; it is removed at the end
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tables: args::Directory,
    #[command(flatten)]
    threads: args::Threads,
}

/// The answer.
#[derive(Serialize)]
struct CheckAnswer {
    digest: String,
    bytes: u64,
    rules: Rules,
    position: Position,
    /// The stated value, without bounds that need no proof.
    #[serde(flatten)]
    bounds: Value,
    openings: Vec<OpeningAnswer>,
    effort: u32,
    /// Seeds of the largest table that the proof rests on.
    table_seeds: usize,
    /// `null` if it rests on none.
    tables: Option<TablesOrigin>,
    claims: u64,
    tally: CheckTally,
    /// Number of claims checked by this run.
    this_run: u64,
    /// Number of claims checked by earlier runs, according to the state.
    earlier: u64,
    seconds: f64,
}

/// Tables of a check, compared with the manifest inside the program.
#[derive(Serialize)]
struct TablesOrigin {
    /// One digest of all tables.
    digest: String,
    /// `as in the manifest` or `unknown`.
    origin: &'static str,
    /// Seeds of the smallest table that is not in the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_unknown: Option<usize>,
}

/// Returns the key of a table that a certificate may rest on.
fn key(head: &Head, seeds: usize) -> TableKey {
    TableKey { rules: head.statement.rules, pits: head.statement.position.pits(), seeds }
}

impl TablesOrigin {
    /// Returns the origin of the tables of a certificate; `None` without tables. Warns if the manifest does not have
    /// all of them.
    fn of(head: &Head) -> Option<TablesOrigin> {
        let digest = output::hex(&digest_of_tables(&head.tables)?);
        let known = |seeds| Manifest::built_in().entry(key(head, seeds)).map(|entry| entry.digest.clone());
        let mut digests = (2..).zip(&head.tables);
        let first_unknown = digests.find(|&(seeds, digest)| known(seeds) != Some(output::hex(digest)));
        let first_unknown = first_unknown.map(|(seeds, _)| seeds);
        if let Some(seeds) = first_unknown {
            message!(
                "warning: the check uses unknown tables: that for {} is not in the manifest. Its result is only as \
                 good as they are: `kalah verify --consistency` checks their scores",
                key(head, seeds)
            );
        }
        let origin = if first_unknown.is_none() { "as in the manifest" } else { "unknown" };
        Some(TablesOrigin { digest, origin, first_unknown })
    }
}

impl Check {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        self.threads.start()?;
        let start = Instant::now();
        let file = StoredCertificate::open(&self.file)?;
        let head = file.head();
        let tables = TablesOrigin::of(head);
        let (tally, earlier) = self.check(&file, tables.as_ref())?;
        let (bounds, openings) = stated(&head.statement);
        let answer = CheckAnswer {
            digest: output::hex(&file.digest()),
            bytes: file.bytes(),
            rules: head.statement.rules,
            position: head.statement.position,
            bounds,
            openings,
            effort: head.effort,
            table_seeds: head.table_seeds(),
            tables,
            claims: file.claims(),
            tally,
            this_run: tally.claims - earlier,
            earlier,
            seconds: start.elapsed().as_secs_f64(),
        };
        output::answer(self.json, &answer, || self.text(&answer))?;
        Ok(Outcome::Done)
    }

    /// Checks all claims that earlier runs have not. Returns the counts, and the number of claims of earlier runs.
    fn check(&self, file: &StoredCertificate, origin: Option<&TablesOrigin>) -> failure::Result<(CheckTally, u64)> {
        let identity = CheckIdentity {
            program: program::short_version(),
            certificate: output::hex(&file.digest()),
            tables: origin.map(|origin| origin.digest.clone()),
        };
        // An unusable state is an error before the long reading of the tables.
        let state = self.state.as_ref().map(|path| identity.open_state(path, file.claims())).transpose()?;
        let (mut state, done) = state.map_or((None, CheckTally::default()), |(state, done)| (Some(state), done));
        let last = key(file.head(), file.head().table_seeds());
        let tables = match last.seeds {
            0 => None,
            seeds => Some(Tables::open(self.tables.directory(), last.rules, last.pits, seeds)?),
        };
        let layers = tables.iter().flat_map(|tables| tables.layers());
        let pulse = stopped_by_signal();
        let progress = Progress::of(layers.map(|table| table.header().file_bytes).sum(), "bytes");
        let progress = progress.at("comparing the tables with their digests");
        let check = progress.complete(&pulse.positions, || Checked::new(file, tables.as_ref(), &pulse));
        let check = check.if_stopped("stopped while the tables were compared with their digests")?;
        pulse.positions.store(0, Ordering::Relaxed);
        check.statement()?;
        let progress = Progress::of(file.claims() - done.claims, "claims").at("checking");
        let tally = progress.complete(&pulse.positions, || check.claims(done, &pulse, state.as_mut()))?;
        if tally.claims < file.claims() {
            let (checked, all) = (commas(tally.claims), output::many(file.claims(), "claim"));
            let kept = match state {
                Some(_) => "run the same command again to continue",
                None => "no progress is kept; --state FILE keeps it",
            };
            bail!("stopped: {checked} of {all} are checked and hold; {kept}");
        }
        state.map_or(Ok(()), StateFile::remove)?;
        Ok((tally, done.claims))
    }

    fn text(&self, answer: &CheckAnswer) -> io::Result<()> {
        let CheckAnswer { position, rules, bounds, tally, .. } = answer;
        line!("{}, digest {}", self.file.display(), answer.digest)?;
        line!("the value of {position} under {rules} rules for the mover: {}", bounds.words("not stated"))?;
        for OpeningAnswer { r#move, value, .. } in &answer.openings {
            line!("  after {move}: {}", value.words("not stated"))?;
        }
        if let Some(TablesOrigin { digest, origin, .. }) = &answer.tables {
            line!("tables to {} seeds: every frame was compared with its digest", answer.table_seeds)?;
            line!("  digest of all {digest}: {origin}")?;
        }
        line!("{}: every one was checked, and holds", output::many(answer.claims, "claim"))?;
        if self.state.is_some() {
            let (this_run, earlier) = (commas(answer.this_run), commas(answer.earlier));
            line!("  {this_run} checked by this run, {earlier} by earlier runs, according to the state")?;
        }
        line!("  {} of searches, {:.1} s", output::many(tally.nodes, "node"), answer.seconds)
    }
}
