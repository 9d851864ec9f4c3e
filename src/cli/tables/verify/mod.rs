//! `kalah verify`.
//!
//! | module | contents |
//! |---|---|
//! | `archives` | the check of archives |
//! | `bounds` | the checks of bound tables |
//! | `report` | passed checks, faults, and layers that were not checked |

mod archives;
mod bounds;
mod report;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use indicatif::HumanCount;
use kalah::build::Backend;
use kalah::game::Rules;
use kalah::isa::Isa;
use kalah::progress::Pulse;
use kalah::table::{BoundTable, Manifest, Table, TableKey, Tables};
use kalah::verify::{
    Fault, Sample, Survey, check_against, check_checksums, check_consistency, check_manifest, check_sample,
};

use crate::cli::errors::suggestion;
use crate::cli::flags::args;
use crate::cli::flags::compute::GpuFlags;
use crate::cli::help::examples;
use crate::cli::output;
use crate::cli::output::progress::Progress;
use crate::cli::process::outcome::Outcome;
use crate::cli::tables::verify::archives::ArchiveChecks;
use crate::cli::tables::verify::bounds::BoundChecks;
use crate::cli::tables::verify::report::{BoardReport, Check, Directory, Passed};

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
]))]
pub struct Verify {
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
    #[arg(long = "seed", alias = "random-seed", value_name = "N", default_value_t = 0, requires = "sample")]
    random_seed: u64,
    /// Compute the layer again and compare it bit for bit, after checking the checksums of the layers below
    #[arg(long, value_name = "BACKEND")]
    against: Option<Against>,
    /// Compare the tables with the digests, sizes and score counts in FILE; tables/manifest.jsonl, which comes with
    /// the program, lists the known tables. Reads all scores, as --checksums does
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    #[command(flatten)]
    gpu: GpuFlags,
    #[command(flatten)]
    common: args::Common,
}

#[derive(Clone, Copy, ValueEnum)]
enum Against {
    /// Builder on the CPU
    Cpu,
    /// Builder on the GPU
    Gpu,
}

/// Settings of the checks of all boards.
struct Means<'a> {
    verify: &'a Verify,
    checks: Vec<Check>,
    manifest: Option<Manifest>,
    backend: Backend,
    pulse: Pulse,
}

/// Seeds of the tables to suggest in a directory without tables.
const SUGGESTED_SEEDS: usize = 24;

/// Message if no check applied to any table.
const NOTHING: &str = "nothing was checked: no table is suitable for this check";

/// The tables of one board, opened.
struct Opened {
    /// Tables from 2 seeds up to the first that is missing or cannot be opened.
    tables: Tables,
    /// Tables to check, by seeds.
    chosen: BTreeMap<usize, Arc<Table>>,
    /// All bound tables up to the largest layer to check.
    bounds: Vec<Arc<BoundTable>>,
    /// Seeds of the archives to check.
    archives: Vec<usize>,
    report: BoardReport,
}

impl Verify {
    pub fn run(self) -> anyhow::Result<Outcome> {
        self.common.threads.start()?;
        let directory = &self.common.tables.path;
        let means = self.means()?;
        let survey = Survey::read(directory).with_context(|| format!("cannot list {}", directory.display()))?;
        let boards: Vec<(Rules, usize)> =
            if self.all { survey.known_boards() } else { vec![(self.common.board.rules, self.common.board.pits)] };
        if boards.is_empty() {
            bail!("nothing was checked: there are no tables in {}", directory.display());
        }
        let mut opened = Vec::new();
        for (rules, pits) in boards {
            opened.push(self.open(&survey, rules, pits)?);
        }
        let total = opened.iter().map(|board| means.work(board)).sum();
        let progress = Progress::new(total);
        let mut reports = Vec::new();
        for board in opened {
            reports.push(means.check_board(board, &progress)?);
        }
        progress.finish();
        if let (Some(manifest), Some(path)) = (&means.manifest, &self.manifest) {
            compared_nothing(&mut reports, manifest, path);
        }

        let misnamed: Vec<String> = if self.all { misnamed(&survey) } else { Vec::new() };
        let outcome = if misnamed.is_empty() { report::outcome(&reports) } else { Outcome::Wrong };
        if self.common.json {
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
            output::line(format_args!("WRONG: {name} is named like a table, but no table has this name"))?;
        }
        if self.all && !survey.others.is_empty() {
            output::line(format_args!("skipped, not tables: {}", survey.others.join(", ")))?;
        }
        Ok(outcome)
    }

    /// Returns the chosen checks and their settings.
    fn means(&self) -> anyhow::Result<Means<'_>> {
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
            Some(Against::Gpu) => self.gpu.open(self.common.board.rules)?.0,
            _ => Backend::Cpu(Isa::detect()),
        };
        checks.extend(self.against.map(|against| match against {
            Against::Cpu => Check::Cpu,
            Against::Gpu => Check::Gpu,
        }));
        Ok(Means { verify: self, checks, manifest, backend, pulse: Pulse::default() })
    }

    /// Opens the tables of a board, and records those that are missing or cannot be opened.
    fn open(&self, survey: &Survey, rules: Rules, pits: usize) -> anyhow::Result<Opened> {
        let directory = &self.common.tables.path;
        let (there, bounds_there) = (survey.layers(rules, pits), survey.bound_layers(rules, pits));
        let mut highest = self.seeds.or(there.last().copied()).unwrap_or(2);
        let most = self.seeds.or(bounds_there.last().copied()).map_or(highest, |seeds| seeds.max(highest));
        let mut tables = Tables::empty(directory, rules, pits, most);
        let archives = survey.archived_layers(rules, pits).iter().copied();
        let archives: Vec<usize> = archives.filter(|&seeds| self.seeds.is_none_or(|asked| asked == seeds)).collect();
        if !there.contains(&highest) {
            let is_asked = |&seeds: &usize| self.seeds.is_none_or(|asked| asked == seeds);
            if !bounds_there.iter().any(is_asked) && archives.is_empty() {
                if self.seeds.is_none() && there.is_empty() {
                    let first = TableKey { rules, pits, seeds: SUGGESTED_SEEDS };
                    let build = suggestion::quick_build(directory, first);
                    let advice = build.map_or(String::new(), |build| format!("; build some with `{build}`"));
                    let directory = directory.display();
                    bail!(
                        "nothing was checked: there are no tables for {rules} with {} in {directory}{advice}",
                        output::count(pits, "pit")
                    );
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

    /// Returns the sample of each layer for --sample.
    fn sample(&self, key: TableKey, count: u64) -> Sample {
        Sample::new(key, count, self.random_seed)
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
    let message = format!(
        "nothing was compared: the manifest {} has {}, but none for these tables",
        path.display(),
        if manifest.entries().len() == 1 {
            "1 entry".to_owned()
        } else {
            format!("{} entries", manifest.entries().len())
        },
    );
    reports[0].fail(None, Check::Manifest, message);
}

impl Means<'_> {
    /// Returns the checks of bound tables.
    fn bound_checks(&self) -> BoundChecks<'_> {
        let sample = self.verify.sample.map(|count| (count, self.verify.random_seed));
        BoundChecks { seeds: self.verify.seeds, sample, checks: &self.checks, pulse: &self.pulse }
    }

    /// Returns the checks of archives.
    fn archive_checks(&self) -> ArchiveChecks<'_> {
        ArchiveChecks { checks: &self.checks, pulse: &self.pulse }
    }

    /// Number of positions that the checks of a board will count.
    fn work(&self, board: &Opened) -> u64 {
        let of_table = |check: Check, table: &Table| match (check, self.verify.sample) {
            (Check::Files | Check::Checksums | Check::Manifest, _) => 0,
            (Check::Consistency, Some(count)) => self.verify.sample(table.key(), count).positions(),
            _ => table.header().positions,
        };
        let tables = || board.chosen.values();
        let exact: u64 = self.checks.iter().flat_map(|&check| tables().map(move |table| of_table(check, table))).sum();
        let bounds = self.bound_checks().work(&board.tables, &board.chosen, &board.bounds);
        exact + bounds + self.archive_checks().work(&board.tables, &board.archives)
    }

    /// Runs all checks of a board.
    ///
    /// Faults that a table shows alone are reported for every table. Comparisons with lower layers stop at the first
    /// fault, since further ones would follow from it.
    fn check_board(&self, board: Opened, progress: &Progress) -> anyhow::Result<BoardReport> {
        let Opened { tables, chosen, bounds, archives, mut report } = board;
        if let Some(manifest) = &self.manifest
            && self.verify.seeds.is_none()
        {
            let known = manifest.entries().iter().filter_map(|entry| entry.key());
            let own = known.filter(|&key| key == tables.key(key.seeds) && !chosen.contains_key(&key.seeds));
            report.only_in_manifest = own.map(|key| key.seeds).collect();
            report.only_in_manifest.sort_unstable();
            report.only_in_manifest.dedup();
        }
        // No fault was found up to this layer.
        let mut sound = tables.max_seeds().unwrap_or(1);
        for &check in &self.checks {
            let is_alone = matches!(check, Check::Checksums | Check::Manifest);
            let (mut unlisted, mut above) = (Vec::new(), Vec::new());
            for (&seeds, table) in &chosen {
                if !is_alone && seeds > sound {
                    above.push(seeds);
                    continue;
                }
                match self.check(check, &tables, table, progress) {
                    Ok(passed) => report.passed.push(passed),
                    Err(Fault::NotInManifest(_)) if self.verify.seeds.is_none() => unlisted.push(seeds),
                    Err(fault @ Fault::Device(_)) => return Err(fault.into()),
                    Err(fault) => {
                        report.add(seeds, check, &fault);
                        sound = sound.min(seeds - 1);
                    }
                }
            }
            report.leave_out(check, unlisted, "for which the manifest has no entry");
            report.leave_out(check, above, "because a layer below is missing, damaged or wrong");
        }
        self.bound_checks().check(&tables, &chosen, &bounds, &mut report, progress);
        let has_table = |seeds| chosen.contains_key(&seeds);
        self.archive_checks().check(&tables, &archives, has_table, &mut report, progress);
        if chosen.is_empty() && bounds.is_empty() && report.passed.is_empty() && report.is_ok() && !self.verify.all {
            for &check in &self.checks {
                report.fail(None, check, NOTHING.to_owned());
            }
        }
        Ok(report)
    }

    /// Runs one check of one table. The table is one of `tables`, unless the check needs no other.
    fn check(&self, check: Check, tables: &Tables, table: &Table, progress: &Progress) -> Result<Passed, Fault> {
        let (start, seeds) = (Instant::now(), table.key().seeds);
        progress.stage(format!("layer {seeds}, {}", check.name()));
        let checked = progress.watch(&self.pulse.positions, || self.count(check, tables, table))?;
        // Every frame is visited, see `Sample::frames`.
        let frames = matches!(check, Check::Consistency).then_some(seeds - 1);
        let passed = Passed { seeds, check, checked, frames, seconds: start.elapsed().as_secs_f64() };
        let summary = format!("{} {}, no fault, {:.2} s", HumanCount(checked), check.unit(), passed.seconds);
        progress.step(passed.seconds, &format!("layer {seeds}: {summary}"));
        Ok(passed)
    }

    /// Number of things that a check counts in a table.
    fn count(&self, check: Check, tables: &Tables, table: &Table) -> Result<u64, Fault> {
        let (pulse, seeds) = (&self.pulse, table.key().seeds);
        let checked: &AtomicU64 = &pulse.positions;
        match (check, self.verify.sample) {
            (Check::Files, _) => Ok(1),
            (Check::Checksums, _) => check_checksums(table),
            (Check::Manifest, _) => match &self.manifest {
                Some(manifest) => check_manifest(manifest, table),
                None => Err(Fault::NotInManifest(table.key())),
            },
            (Check::Consistency, Some(count)) if count < table.header().positions => {
                check_sample(tables, &self.verify.sample(table.key(), count), checked)
            }
            (Check::Consistency, _) => check_consistency(tables, seeds, checked),
            // Run in the pool, see `Builder::run`.
            (Check::Cpu, _) => rayon::scope(|_| check_against(&self.backend, tables, seeds, pulse)),
            _ => check_against(&self.backend, tables, seeds, pulse),
        }
    }
}
