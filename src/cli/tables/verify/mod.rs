//! `kalah verify`.
//!
//! | module | contents |
//! |---|---|
//! | `bounds` | the checks of bound tables |
//! | `checks` | the checks of the tables and archives of a board, and their settings |
//! | `report` | passed checks, faults, and layers that were not checked |

mod bounds;
mod checks;
mod report;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use kalah::build::Backend;
use kalah::game::Rules;
use kalah::isa::Isa;
use kalah::table::{Manifest, Table, TableKey, Tables};
use kalah::verify::{Fault, Survey};

use crate::cli::flags::compute::GpuFlags;
use crate::cli::tables::verify::checks::{CheckSettings, Opened};
use crate::cli::tables::verify::report::{BoardReport, Check, Directory};
use crate::cli::{Context, Outcome, args, bail, examples, failure, line, output, stopped_by_signal, suggestion};

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
    /// Check all rule sets and boards in the directory, and list files that are not tables
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
        let directory = &self.tables.directory;
        let settings = self.settings()?;
        let survey = Survey::read(directory).with_context(|| format!("cannot list {directory}"))?;
        let boards: Vec<(Rules, usize)> =
            if self.all { survey.known_boards() } else { vec![(self.board.rules, self.board.pits)] };
        if boards.is_empty() {
            bail!("nothing was checked: there are no tables in {directory}");
        }
        let mut opened = Vec::new();
        for (rules, pits) in boards {
            opened.push(self.open(&survey, rules, pits)?);
        }
        let reports = opened.into_iter().map(|board| settings.check_board(board));
        let mut reports = reports.collect::<failure::Result<Vec<_>>>()?;
        if let (Some(manifest), Some(path)) = (&settings.manifest, &self.manifest) {
            compared_nothing(&mut reports, manifest, path);
        }

        let misnamed: Vec<String> = if self.all { misnamed(&survey) } else { Vec::new() };
        let outcome = if misnamed.is_empty() { report::outcome(&reports) } else { Outcome::Wrong };
        if self.json {
            if self.all {
                let ok = misnamed.is_empty() && reports.iter().all(BoardReport::is_ok);
                output::json(&Directory { ok, boards: reports, misnamed, others: survey.others })?;
            } else {
                output::json(&reports[0])?;
            }
            return Ok(outcome);
        }
        report::text(&reports)?;
        for name in misnamed {
            line!("WRONG: {name} is named like a table, but no table has this name")?;
        }
        if self.all && !survey.others.is_empty() {
            line!("skipped, not tables: {}", survey.others.join(", "))?;
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
        let manifest = match &self.manifest {
            Some(path) => {
                checks.push(Check::Manifest);
                let manifest = Manifest::read(path);
                let manifest = manifest.with_context(|| format!("cannot read the manifest {}", path.display()))?;
                if manifest.entries().is_empty() {
                    bail!("nothing can be compared: the manifest {} has no entries", path.display());
                }
                Some(manifest)
            }
            None => None,
        };
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

    /// Opens the tables of a board, and records those that are missing or cannot be opened.
    fn open(&self, survey: &Survey, rules: Rules, pits: usize) -> failure::Result<Opened> {
        let directory = &self.tables.directory;
        let (there, bounds_there) = (survey.layers(rules, pits), survey.bound_layers(rules, pits));
        let mut highest = self.seeds.or(there.last().copied()).unwrap_or(2);
        let most = self.seeds.or(bounds_there.last().copied()).map_or(highest, |seeds| seeds.max(highest));
        let mut tables = Tables::empty(directory, rules, pits, most)?;
        let archives = survey.archived_layers(rules, pits).iter().copied();
        let archives: Vec<usize> = archives.filter(|&seeds| self.seeds.is_none_or(|asked| asked == seeds)).collect();
        if !there.contains(&highest) {
            let is_asked = |&seeds: &usize| self.seeds.is_none_or(|asked| asked == seeds);
            if !bounds_there.iter().any(is_asked) && archives.is_empty() {
                if self.seeds.is_none() && there.is_empty() {
                    bail!("nothing was checked: {}", suggestion::no_tables(directory, rules, pits));
                }
                // The error names the command that builds it.
                tables.require(highest)?;
            }
            // This layer has only a bound table or an archive.
            highest = there.iter().copied().rfind(|&seeds| seeds < highest).unwrap_or(1);
        }
        // Checksums need only the layer itself; other checks need the layers below.
        let needs_below = self.seeds.is_none() || self.consistency || self.against.is_some();
        let first = if needs_below { 2 } else { highest };
        let (mut chosen, mut report) = (BTreeMap::new(), BoardReport::new(rules, pits));
        let mut missing = Vec::new();
        for seeds in first..=highest {
            if !there.contains(&seeds) {
                // Its bound table may have taken its place.
                if !bounds_there.contains(&seeds) {
                    missing.push(seeds);
                }
                continue;
            }
            match Table::open_key(directory, TableKey { rules, pits, seeds }) {
                Ok(table) => {
                    chosen.insert(seeds, Arc::new(table));
                }
                Err(error) => report.add(seeds, Check::Files, &error.into()),
            }
        }
        for seeds in 2.. {
            let Some(table) = chosen.get(&seeds) else { break };
            tables.push(Arc::clone(table))?;
        }
        if !missing.is_empty() {
            report.add(highest, Check::Files, &Fault::gap(&tables, highest, missing));
        }
        let lacks = |seeds: &usize| !there.contains(seeds) && !bounds_there.contains(seeds);
        // A directory may contain bound tables only.
        let lowest = if there.is_empty() { bounds_there.first().copied().unwrap_or(most) } else { highest + 1 };
        let below_bounds: Vec<usize> = (lowest..most).filter(|seeds| *seeds > 1 && lacks(seeds)).collect();
        if needs_below && !below_bounds.is_empty() {
            report.add(most, Check::Files, &Fault::gap(&tables, most, below_bounds));
        }
        let bounds = bounds::open(&tables, bounds_there, most, &mut report);
        if let Some(seeds) = self.seeds {
            chosen.retain(|&own, _| own == seeds);
        }
        Ok(Opened { tables, chosen, bounds, archives, report })
    }
}

/// Returns file names with the extension of tables that no table has. `kalah info` refuses these files, too.
fn misnamed(survey: &Survey) -> Vec<String> {
    let ends_like_one = |name: &&String| name.ends_with(".kalah") || name.ends_with(".bounds");
    survey.others.iter().filter(ends_like_one).cloned().collect()
}

/// Adds a failure if the manifest has no entry for any checked table.
fn compared_nothing(reports: &mut [BoardReport], manifest: &Manifest, path: &std::path::Path) {
    let compared = |board: &BoardReport| board.passed.iter().any(|passed| passed.check == Check::Manifest);
    if reports.iter().any(|board| compared(board) || !board.is_ok()) {
        return;
    }
    let (path, entries) = (path.display(), output::count(manifest.entries().len(), "table"));
    let message = format!("nothing was compared: the manifest {path} has {entries}, but none of these");
    reports[0].fail(None, Check::Manifest, message);
}
