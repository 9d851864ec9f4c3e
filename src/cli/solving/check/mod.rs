//! `kalah check`.
//!
//! | module | contents |
//! |---|---|
//! | `report` | printed results |

pub(crate) mod report;

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Instant;

use clap::Args;
use kalah::certificate::{
    Check as Checked, CheckError, CheckIdentity, CheckTally, Head, StoredCertificate, digest_of_tables,
};
use kalah::diagnostic::Diagnostic;
use kalah::file::StateFile;
use kalah::progress::Pulse;
use kalah::table::{TableError, TableKey, Tables};

use crate::cli::solving::check::report::{CheckAnswer, Extent, Found, TablesOrigin};
use crate::cli::{
    Outcome, Progress, Suggestions, args, examples, failure, message, output, program, stopped_by_signal, usage,
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
    ("Check faster, by more tables", "kalah check kalah-6x5.certificate --seeds 24"),
    ("Check in several runs", "kalah check kalah-6x6.certificate --state check.json"),
]))]
pub(crate) struct Check {
    /// Certificate to check
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Save progress in FILE, and continue from it; it is removed at the end
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Use the tables up to N seeds, even if the proof rests on fewer: a faster check, whose result rests on these
    #[arg(long, value_name = "N")]
    seeds: Option<usize>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tables: args::Directory,
    #[command(flatten)]
    threads: args::Threads,
}

/// Tables of a check.
struct Used {
    /// The largest one; that of 0 seeds stands for none.
    last: TableKey,
    /// Digests, from 2 seeds up.
    digests: Vec<[u8; 32]>,
}

impl Check {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        self.threads.start()?;
        let start = Instant::now();
        let file = StoredCertificate::open(&self.file)?;
        let used = self.used(file.head())?;
        let origin = TablesOrigin::of(used.last, &used.digests);
        let pulse = stopped_by_signal();
        let found = match self.open_and_check(&file, &used, &pulse)? {
            Err(error) if error.is_wrong() => {
                if let Some(advice) = error.diagnosis(&Suggestions).help {
                    message!("advice: {advice}");
                }
                Found::wrong(error.to_string())
            }
            found => found?,
        };
        let outcome = match found.extent {
            Extent::Complete => Outcome::Done,
            Extent::Stopped => Outcome::Failed,
            Extent::Wrong => Outcome::Wrong,
        };
        let answer = CheckAnswer::new(&file, used.last.seeds, origin, found, start.elapsed().as_secs_f64());
        output::answer(self.json, &answer, || answer.text(&self.file, self.state.is_some()))?;
        Ok(outcome)
    }

    /// Returns the tables of the check: those that the proof rests on, and those of `--seeds`.
    fn used(&self, head: &Head) -> failure::Result<Used> {
        let (own, mut digests) = (head.table_seeds(), head.tables.clone());
        let seeds = self.seeds.unwrap_or(own);
        if seeds < own {
            return Err(usage(format!(
                "the proof rests on the tables to {own} seeds, so --seeds must be at least {own}"
            )));
        }
        let last = TableKey { rules: head.statement.rules, pits: head.statement.position.pits(), seeds };
        if seeds > own {
            let tables = self.open_tables(last)?;
            digests.extend(tables.layers().iter().skip(digests.len()).map(|table| table.header().digest));
        }
        Ok(Used { last, digests })
    }

    /// Opens the tables and checks the certificate. An error of the check itself is in the inner result.
    fn open_and_check(
        &self,
        file: &StoredCertificate,
        used: &Used,
        pulse: &Pulse,
    ) -> failure::Result<Result<Found, CheckError>> {
        // An unusable state is an error before the long reading of the tables.
        let state = self.state.as_ref().map(|path| self.identity(file, used).open_state(path, file.claims()));
        let (state, done) = state.transpose()?.map_or((None, CheckTally::default()), |(file, done)| (Some(file), done));
        let tables = match used.last.seeds {
            0 => None,
            _ => Some(self.open_tables(used.last)?),
        };
        let tables = tables.as_ref();
        let bytes = tables.map_or(0, |tables| tables.layers().iter().map(|table| table.header().file_bytes).sum());
        let progress = Progress::of(bytes, "bytes").at("comparing the tables with their digests");
        let check = match progress.complete(&pulse.positions, || Checked::new(file, tables, used.last.seeds, pulse)) {
            Ok(check) => check,
            Err(CheckError::Stopped(_)) => return Ok(Ok(Found::new(Extent::Stopped, done, done.claims))),
            Err(error) => return Ok(Err(error)),
        };
        pulse.positions.store(0, Ordering::Relaxed);
        Ok(check.statement().and_then(|()| self.check_all(&check, file, (state, done), pulse)))
    }

    /// Opens the tables of the check.
    fn open_tables(&self, last: TableKey) -> Result<Tables, TableError> {
        let tables = Tables::open(&self.tables.directory, last.rules, last.pits, last.seeds)?;
        tables.require(last.seeds)?;
        Ok(tables)
    }

    /// Returns the identity of the check, which a state must have.
    fn identity(&self, file: &StoredCertificate, used: &Used) -> CheckIdentity {
        CheckIdentity {
            program: program::short_version(),
            certificate: output::hex(&file.digest()),
            tables: digest_of_tables(&used.digests).as_ref().map(output::hex),
        }
    }

    /// Checks all claims that earlier runs have not.
    fn check_all(
        &self,
        check: &Checked,
        file: &StoredCertificate,
        (mut state, done): (Option<StateFile>, CheckTally),
        pulse: &Pulse,
    ) -> Result<Found, CheckError> {
        let progress = Progress::of(file.claims() - done.claims, "claims").at("checking");
        let tally = progress.complete(&pulse.positions, || check.claims(done, pulse, state.as_mut()))?;
        let extent = if tally.claims == file.claims() { Extent::Complete } else { Extent::Stopped };
        if extent == Extent::Complete {
            state.map_or(Ok(()), StateFile::remove)?;
        }
        Ok(Found::new(extent, tally, done.claims))
    }
}
