//! `kalah verify`.
//!
//! | module | contents |
//! |---|---|
//! | `checks` | the checks of the files of a board, and their settings |
//! | `report` | passed checks, faults, and layers that were not checked |

mod checks;
mod report;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use kalah::build::Backend;
use kalah::game::Rules;
use kalah::header::Kind;
use kalah::isa::Isa;
use kalah::table::{BoundTable, Manifest, Table, TableKey, Tables, layers_in};
use kalah::verify::Fault;

use crate::cli::flags::compute::GpuFlags;
use crate::cli::tables::verify::checks::{CheckSettings, Opened};
use crate::cli::tables::verify::report::{AllBoards, BoardReport, Check};
use crate::cli::{Context, Outcome, args, bail, examples, failure, output, stopped_by_signal};

/// Check that tables are correct
///
/// Use this after a build or a download, and before you rely on a table. By default every file of the board is
/// checked against its checksums, bound tables and archives included, and a missing layer below others is a fault.
/// --consistency checks scores by an independent implementation of the rules. It compares bound tables with the exact
/// tables of their layers, or with the layers below. Archives are unpacked in memory and must give the table that was
/// packed. Exits 3 if a score is wrong, a table is damaged, or a layer is missing; 1 if there was nothing to check or
/// to compare. See docs/verifying.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Check all files against their checksums", "kalah verify"),
    ("Prove every score of a layer from the layers below", "kalah verify --seeds 16 --consistency"),
    ("Prove every score of all layers", "kalah verify --checksums --consistency"),
]))]
pub(crate) struct Verify {
    /// Check only the layer with this many seeds [default: all layers]
    #[arg(long, value_parser = args::seeds)]
    seeds: Option<usize>,
    /// Check all rule sets and boards in the directory
    #[arg(long, conflicts_with_all = ["seeds", "rules", "pits"])]
    all: bool,
    /// Check every block against its checksum, and every frame and table against its digest (the default)
    #[arg(long)]
    checksums: bool,
    /// Check that every score is the minimax of its children, by an independent implementation of the rules
    #[arg(long)]
    consistency: bool,
    /// With --consistency: check at least N positions of each layer, or all if it has fewer: the first and last of
    /// every frame, and random ones in proportion to its size
    #[arg(long, value_name = "N", requires = "consistency")]
    sample: Option<u64>,
    /// With --sample: seed of the random choice; the same seed draws the same positions
    #[arg(long = "seed", value_name = "N", default_value_t = 0, requires = "sample")]
    random_seed: u64,
    /// Compute the layer again and compare it bit for bit, after checking the checksums of the layers below
    #[arg(long, value_name = "BACKEND", value_parser = args::named(AGAINST, |(name, _)| name))]
    against: Option<(&'static str, Check)>,
    /// Compare the tables with the digests, sizes and score counts in FILE; tables/manifest.jsonl, which comes with
    /// the program, lists the known tables. Reads all scores, as --checksums does
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    #[command(flatten)]
    gpu: GpuFlags,
    #[command(flatten)]
    board: args::BoardFlags,
    #[command(flatten)]
    tables: args::Directory,
    #[command(flatten)]
    threads: args::Threads,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Builders that compute a layer again.
const AGAINST: &[(&str, Check)] = &[("cpu", Check::Cpu), ("gpu", Check::Gpu)];

impl Verify {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        self.threads.start()?;
        let directory = self.tables.directory();
        let settings = self.settings()?;
        let [tables, bounds, archives] =
            [Kind::Table, Kind::BoundTable, Kind::Archive].map(|kind| layers_in(directory, kind));
        let layers = [tables?, bounds?, archives?];
        let boards: BTreeSet<(Rules, usize)> = match self.all {
            true => layers.iter().flatten().map(|key| (key.rules, key.pits)).collect(),
            false => [(self.board.rules, self.board.pits)].into(),
        };
        if boards.is_empty() {
            bail!("nothing was checked: there are no tables in {directory}");
        }
        let mut opened = Vec::new();
        for (rules, pits) in boards {
            opened.push(self.open(&layers, rules, pits)?);
        }
        let reports = opened.into_iter().map(|board| settings.check_board(board));
        let mut reports = reports.collect::<failure::Result<Vec<_>>>()?;
        let is_compared =
            |board: &BoardReport| !board.is_ok() || board.passed.iter().any(|passed| passed.check == Check::Manifest);
        if let Some(manifest) = &settings.manifest
            && !reports.iter().any(is_compared)
        {
            let entries = output::count(manifest.entries().len(), "table");
            let message = format!("nothing was compared: the manifest has {entries}, but none of these");
            reports[0].fail(None, Check::Manifest, message);
        }
        let outcome = report::outcome(&reports);
        match (self.json, self.all) {
            (false, _) => report::text(&reports)?,
            (true, false) => output::json(&reports[0])?,
            (true, true) => output::json(&AllBoards { ok: outcome == Outcome::Done, boards: reports })?,
        }
        Ok(outcome)
    }

    /// Returns the chosen checks and their settings.
    fn settings(&self) -> failure::Result<CheckSettings> {
        let mut checks = Vec::new();
        let others = self.consistency || self.against.is_some() || self.manifest.is_some();
        if self.checksums || !others {
            checks.push(Check::Checksums);
        }
        let read = |path: &PathBuf| {
            Manifest::read(path).with_context(|| format!("cannot read the manifest {}", path.display()))
        };
        let manifest = self.manifest.as_ref().map(read).transpose()?;
        checks.extend(manifest.is_some().then_some(Check::Manifest));
        if self.consistency {
            checks.push(Check::Consistency);
        }
        let backend = match self.against {
            Some((_, Check::Gpu)) => self.gpu.open(self.board.rules)?.0,
            _ => Backend::Cpu(Isa::detect()),
        };
        checks.extend(self.against.map(|(_, check)| check));
        Ok(CheckSettings {
            seeds: self.seeds,
            sample: self.sample.map(|count| (count, self.random_seed)),
            all: self.all,
            checks,
            manifest,
            backend,
            pulse: stopped_by_signal(),
        })
    }

    /// Opens the tables of a board, and records those that are missing or cannot be opened. `layers` are those with
    /// tables, with bound tables, and with archives.
    fn open(&self, layers: &[BTreeSet<TableKey>; 3], rules: Rules, pits: usize) -> failure::Result<Opened> {
        let directory = self.tables.directory();
        let [there, bounds_there, mut archives] = layers.each_ref().map(|keys| -> Vec<usize> {
            keys.iter().filter(|key| (key.rules, key.pits) == (rules, pits)).map(|key| key.seeds).collect()
        });
        let is_asked = |seeds: &usize| self.seeds.is_none_or(|asked| asked == *seeds);
        archives.retain(is_asked);
        let last = self.seeds.or(there.last().max(bounds_there.last()).copied());
        if last.is_none() && archives.is_empty() {
            bail!("nothing was checked: {}", args::no_tables(directory, rules, pits));
        }
        let last = last.unwrap_or(1);
        let mut tables = Tables::empty(directory, rules, pits, last.max(2))?;
        let is_there = |seeds: &usize| there.contains(seeds) || bounds_there.contains(seeds);
        if self.seeds.is_some() && !is_there(&last) && archives.is_empty() {
            // The error names the command that builds it.
            tables.require(last)?;
        }
        // Checksums need only the layer itself; other checks need the layers below. A directory may contain bound
        // tables only.
        let needs_below = self.seeds.is_none() || self.consistency || self.against.is_some();
        let lowest = if there.is_empty() { bounds_there.first().copied().unwrap_or(2) } else { 2 };
        let first = if needs_below { lowest } else { last };
        let (mut chosen, mut report) = (BTreeMap::new(), BoardReport::new(rules, pits));
        for &seeds in there.iter().filter(|&seeds| (first..=last).contains(seeds)) {
            match Table::open_key(directory, TableKey { rules, pits, seeds }) {
                Ok(table) => _ = chosen.insert(seeds, Arc::new(table)),
                Err(error) => report.add(seeds, Check::Files, &error.into()),
            }
        }
        for seeds in 2.. {
            let Some(table) = chosen.get(&seeds) else { break };
            tables.push(Arc::clone(table))?;
        }
        let missing: Vec<usize> = (first..last).filter(|seeds| !is_there(seeds)).collect();
        if !missing.is_empty() {
            report.add(last, Check::Files, &Fault::gap(&tables, last, missing));
        }
        let mut bounds = Vec::new();
        for &seeds in bounds_there.iter().filter(|&&seeds| seeds <= last) {
            let key = TableKey { rules, pits, seeds };
            match BoundTable::open_in(directory, &key.name_of(Kind::BoundTable)) {
                Ok(table) => bounds.push(Arc::new(table)),
                Err(error) => report.add(seeds, Check::Files, &error.into()),
            }
        }
        chosen.retain(|seeds, _| is_asked(seeds));
        Ok(Opened { tables, chosen, bounds, archives, report })
    }
}
