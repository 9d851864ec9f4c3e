//! The checks that `kalah verify` makes of the files of a board.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use kalah::build::{Backend, ComputeError};
use kalah::diagnostic::Diagnostic;
use kalah::index::layer_positions;
use kalah::printable::commas;
use kalah::progress::Pulse;
use kalah::system::check_memory;
use kalah::table::archive::{archive_path, decompress_memory, read_info};
use kalah::table::{BoundTable, Manifest, Table, TableKey, Tables};
use kalah::verify::{
    BoundSet, Fault, Sample, check_against, check_archive, check_bounds_against, check_checksums, check_consistency,
    check_manifest, check_sample,
};

use crate::cli::tables::verify::report::{BoardReport, Check, Passed};
use crate::cli::{Progress, failure};

/// The tables of one board, opened.
pub(super) struct Opened {
    /// Tables from 2 seeds up to the first that is missing or cannot be opened.
    pub tables: Tables,
    /// Tables to check, by seeds. Those above a gap are not in `tables`.
    pub chosen: BTreeMap<usize, Arc<Table>>,
    /// All bound tables up to the largest layer to check.
    pub bounds: Vec<Arc<BoundTable>>,
    /// Seeds of the archives to check.
    pub archives: Vec<usize>,
    pub report: BoardReport,
}

/// Settings of the checks of all boards.
pub(super) struct CheckSettings {
    /// Layer to check; `None` for all.
    pub seeds: Option<usize>,
    /// Sample of each layer, and the seed of its random choice; `None` for all positions.
    pub sample: Option<(u64, u64)>,
    /// True with --all.
    pub all: bool,
    pub checks: Vec<Check>,
    pub manifest: Option<Manifest>,
    pub backend: Backend,
    pub pulse: Pulse,
}

impl CheckSettings {
    /// Runs all checks of a board.
    ///
    /// Faults that a table shows alone are reported for every table. Comparisons with lower layers stop at the first
    /// fault, since further ones would follow from it.
    pub(super) fn check_board(&self, board: Opened) -> failure::Result<BoardReport> {
        let Opened { tables, chosen, bounds, archives, mut report } = board;
        // No fault was found up to this layer.
        let mut sound = tables.max_seeds().unwrap_or(1);
        for &check in &self.checks {
            let is_alone = matches!(check, Check::Checksums | Check::Manifest);
            for (&seeds, table) in &chosen {
                if !is_alone && seeds > sound {
                    report.leave_out(check, seeds, "because a layer below is missing, damaged or wrong");
                } else if !self.record(&mut report, check, table.key(), || self.count(check, &tables, table))? {
                    sound = sound.min(seeds - 1);
                }
            }
        }
        self.check_bounds(&tables, &chosen, &bounds, &mut report)?;
        for &seeds in &archives {
            self.check_archive(&tables, seeds, chosen.contains_key(&seeds), &mut report)?;
        }
        if chosen.is_empty() && bounds.is_empty() && report.passed.is_empty() && report.is_ok() && !self.all {
            for &check in &self.checks {
                report.fail(None, check, "nothing was checked: no table is suitable for this check".to_owned());
            }
        }
        if self.pulse.check().is_err() {
            report.fail(None, *self.checks.last().unwrap_or(&Check::Files), "stopped".to_owned());
        }
        Ok(report)
    }

    /// Number of things that a check counts in a table.
    fn count(&self, check: Check, tables: &Tables, table: &Table) -> Result<u64, Fault> {
        let (pulse, seeds) = (&self.pulse, table.key().seeds);
        match (check, self.sample) {
            (Check::Checksums, _) => check_checksums(table.blocks()),
            (Check::Manifest, _) => match &self.manifest {
                Some(manifest) => check_manifest(manifest, table),
                None => Err(Fault::NotInManifest(table.key())),
            },
            (Check::Consistency, Some((count, seed))) if count < table.header().positions => {
                check_sample(tables, &Sample::new(table.key(), count, seed), pulse)
            }
            (Check::Consistency, _) => check_consistency(tables, seeds, pulse),
            // Run in the pool, see `Builder::run`.
            (Check::Cpu, _) => rayon::scope(|_| check_against(&self.backend, tables, seeds, pulse)),
            _ => check_against(&self.backend, tables, seeds, pulse),
        }
    }

    /// Runs the checks of all bound tables of a board.
    fn check_bounds(
        &self,
        tables: &Tables,
        chosen: &BTreeMap<usize, Arc<Table>>,
        bounds: &[Arc<BoundTable>],
        report: &mut BoardReport,
    ) -> failure::Result<()> {
        let set = BoundSet::new(tables, bounds);
        let is_asked = |table: &&Arc<BoundTable>| self.seeds.is_none_or(|seeds| table.key().seeds == seeds);
        for table in bounds.iter().filter(is_asked) {
            let key = table.key();
            let exact = tables.layer(key.seeds).or_else(|| chosen.get(&key.seeds).map(|table| &**table));
            if self.checks.contains(&Check::Checksums) {
                self.record(report, Check::BoundChecksums, key, || check_checksums(table.blocks()))?;
            }
            if !self.checks.contains(&Check::Consistency) {
                continue;
            }
            if let Some(exact) = exact {
                // Run in the pool, so that the waiting thread works on tasks, too.
                let check = || rayon::scope(|_| check_bounds_against(exact, table, &self.pulse));
                self.record(report, Check::BoundsAgainstExact, key, check)?;
            } else if set.reaches(key.seeds) {
                let (count, random_seed) = self.sample.unwrap_or((u64::MAX, 0));
                let check = || set.check(&Sample::new(key, count, random_seed), &self.pulse);
                self.record(report, Check::BoundConsistency, key, check)?;
            } else {
                report.leave_out(Check::BoundConsistency, key.seeds, "because a layer below is missing or damaged");
            }
        }
        Ok(())
    }

    /// Checks an archive if checksums are to be checked. Other checks leave out a layer without a table.
    fn check_archive(
        &self,
        tables: &Tables,
        seeds: usize,
        has_table: bool,
        report: &mut BoardReport,
    ) -> failure::Result<()> {
        let (key, path) = (tables.key(seeds), archive_path(tables.directory(), tables.key(seeds)));
        for &check in &self.checks {
            if check != Check::Checksums {
                if !has_table {
                    report.leave_out(check, seeds, "which exist as archives only");
                }
                continue;
            }
            // One that cannot be opened needs no memory.
            let needed = read_info(&path).map_or(0, |info| decompress_memory(&info, rayon::current_num_threads()));
            if let Err(error) = check_memory(needed, None, || format!("checking {} takes", path.display())) {
                report.fail(Some(seeds), Check::Archives, error.advised());
                continue;
            }
            // Run in the pool, so that the waiting thread works on tasks, too.
            let check = || rayon::scope(|_| check_archive(tables.directory(), key, &self.pulse));
            self.record(report, Check::Archives, key, check)?;
        }
        Ok(())
    }

    /// Makes one check of a layer, which counts what it has checked, shows its progress, and records its result.
    /// Returns false if there is a fault.
    fn record(
        &self,
        report: &mut BoardReport,
        check: Check,
        key: TableKey,
        count: impl FnOnce() -> Result<u64, Fault>,
    ) -> failure::Result<bool> {
        match self.pulse.check().map_err(Fault::from).and_then(|()| self.timed(check, key, count)) {
            Ok(passed) => report.passed.push(passed),
            Err(Fault::NotInManifest(_)) if self.seeds.is_none() => {
                report.leave_out(check, key.seeds, "for which the manifest has no entry");
            }
            Err(fault @ Fault::Compute(ComputeError::Device(_))) => return Err(fault.into()),
            Err(Fault::Stopped(_)) => report.leave_out(check, key.seeds, "because the run was stopped"),
            Err(fault) => {
                report.add(key.seeds, check, &fault);
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn timed(
        &self,
        check: Check,
        TableKey { pits, seeds, .. }: TableKey,
        count: impl FnOnce() -> Result<u64, Fault>,
    ) -> Result<Passed, Fault> {
        let start = Instant::now();
        let is_sampled = matches!(check, Check::Consistency | Check::BoundConsistency);
        let most = self.sample.filter(|_| is_sampled).map_or(u64::MAX, |(count, _)| count);
        let positions = layer_positions(pits, seeds).min(most);
        let progress = Progress::new(positions).at(format!("layer {seeds}, {}", check.name()));
        self.pulse.positions.store(0, Ordering::Relaxed);
        let checked = progress.complete(&self.pulse.positions, count)?;
        let seconds = start.elapsed().as_secs_f64();
        let summary = format!("{} {}, no fault, {seconds:.2} s", commas(checked), check.unit());
        progress.step(seconds, &format!("layer {seeds}: {summary}"));
        // Every frame is visited, see `Sample::frames`.
        let frames = (check == Check::Consistency).then_some(seeds - 1);
        Ok(Passed { seeds, check, checked, frames, seconds })
    }
}
