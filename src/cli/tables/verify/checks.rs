//! The checks that `kalah verify` makes of the tables of a board.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use indicatif::HumanCount;
use kalah::build::{Backend, ComputeError};
use kalah::index::layer_positions;
use kalah::progress::Pulse;
use kalah::system::check_memory;
use kalah::table::archive::{archive_path, decompress_memory, read_info};
use kalah::table::{BoundTable, Manifest, Table, TableKey, Tables};
use kalah::verify::{
    Fault, Sample, check_against, check_archive, check_checksums, check_consistency, check_manifest, check_sample,
};

use crate::cli::tables::verify::report::{BoardReport, Check, Passed};
use crate::cli::{Progress, failure, with_advice};

/// Message if no check applied to any table.
const NOTHING: &str = "nothing was checked: no table is suitable for this check";

/// Reason why checks leave out layers after a signal.
const STOPPED: &str = "because the run was stopped";

/// The tables of one board, opened.
pub(super) struct Opened {
    /// Tables from 2 seeds up to the first that is missing or cannot be opened.
    pub tables: Tables,
    /// Tables to check, by seeds.
    pub chosen: BTreeMap<usize, Arc<Table>>,
    /// All bound tables up to the largest layer to check.
    pub bounds: Vec<Arc<BoundTable>>,
    /// Seeds of the archives to check.
    pub archives: Vec<usize>,
    pub report: BoardReport,
}

impl CheckSettings {
    /// Runs all checks of a board.
    ///
    /// Faults that a table shows alone are reported for every table. Comparisons with lower layers stop at the first
    /// fault, since further ones would follow from it.
    pub(super) fn check_board(&self, board: Opened) -> failure::Result<BoardReport> {
        let Opened { tables, chosen, bounds, archives, mut report } = board;
        if let Some(manifest) = &self.manifest
            && self.seeds.is_none()
        {
            let known = manifest.entries().iter().map(|entry| entry.key);
            let own = known.filter(|&key| key == tables.key(key.seeds) && !chosen.contains_key(&key.seeds));
            report.only_in_manifest = own.map(|key| key.seeds).collect();
            report.only_in_manifest.sort_unstable();
            report.only_in_manifest.dedup();
        }
        // No fault was found up to this layer.
        let mut sound = tables.max_seeds().unwrap_or(1);
        for &check in &self.checks {
            let is_alone = matches!(check, Check::Checksums | Check::Manifest);
            let (mut unlisted, mut above, mut stopped) = (Vec::new(), Vec::new(), Vec::new());
            for (&seeds, table) in &chosen {
                if !is_alone && seeds > sound {
                    above.push(seeds);
                    continue;
                }
                let run = || self.timed(check, table.key(), || self.count(check, &tables, table));
                match self.pulse.check().map_err(Fault::from).and_then(|()| run()) {
                    Ok(passed) => report.passed.push(passed),
                    Err(Fault::NotInManifest(_)) if self.seeds.is_none() => unlisted.push(seeds),
                    Err(fault @ Fault::Compute(ComputeError::Device(_))) => return Err(fault.into()),
                    Err(Fault::Stopped(_)) => stopped.push(seeds),
                    Err(fault) => {
                        report.add(seeds, check, &fault);
                        sound = sound.min(seeds - 1);
                    }
                }
            }
            report.leave_out(check, unlisted, "for which the manifest has no entry");
            report.leave_out(check, above, "because a layer below is missing, damaged or wrong");
            report.leave_out(check, stopped, STOPPED);
        }
        self.check_bounds(&tables, &chosen, &bounds, &mut report);
        let has_table = |seeds| chosen.contains_key(&seeds);
        self.check_archives(&tables, &archives, has_table, &mut report);
        if chosen.is_empty() && bounds.is_empty() && report.passed.is_empty() && report.is_ok() && !self.all {
            for &check in &self.checks {
                report.fail(None, check, NOTHING.to_owned());
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
            (Check::Files, _) => Ok(1),
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
    /// Makes one check of a layer, which counts what it has checked, and shows its progress.
    pub(super) fn timed(
        &self,
        check: Check,
        key: TableKey,
        count: impl FnOnce() -> Result<u64, Fault>,
    ) -> Result<Passed, Fault> {
        let (start, TableKey { pits, seeds, .. }) = (Instant::now(), key);
        let is_sampled = matches!(check, Check::Consistency | Check::BoundConsistency);
        let most = self.sample.filter(|_| is_sampled).map_or(u64::MAX, |(count, _)| count);
        let positions = layer_positions(pits, seeds).min(most);
        let progress = Progress::new(positions).at(format!("layer {seeds}, {}", check.name()));
        self.pulse.positions.store(0, Ordering::Relaxed);
        let checked = progress.complete(&self.pulse.positions, count)?;
        let seconds = start.elapsed().as_secs_f64();
        let summary = format!("{} {}, no fault, {seconds:.2} s", HumanCount(checked), check.unit());
        progress.step(seconds, &format!("layer {seeds}: {summary}"));
        // Every frame is visited, see `Sample::frames`.
        let frames = (check == Check::Consistency).then_some(seeds - 1);
        Ok(Passed { seeds, check, checked, frames, seconds })
    }
}

/// Reason why a check that needs tables leaves out a layer.
const ARCHIVES_ONLY: &str = "which exist as archives only";

impl CheckSettings {
    /// Checks the archives of a board with these seeds, if checksums are to be checked. Other checks leave out the
    /// layers without a table in `there`.
    pub(super) fn check_archives(
        &self,
        tables: &Tables,
        archives: &[usize],
        there: impl Fn(usize) -> bool,
        report: &mut BoardReport,
    ) {
        for &check in self.checks.iter().filter(|&&check| check != Check::Checksums) {
            let only: Vec<usize> = archives.iter().copied().filter(|&seeds| !there(seeds)).collect();
            report.leave_out(check, only, ARCHIVES_ONLY);
        }
        if !self.checks.contains(&Check::Checksums) {
            return;
        }
        for &seeds in archives {
            if self.pulse.check().is_err() {
                return;
            }
            let key = tables.key(seeds);
            if let Err(message) = fits(tables, key) {
                report.fail(Some(seeds), Check::Archives, message);
                continue;
            }
            // Run in the pool, so that the waiting thread works on tasks, too.
            let check = || rayon::scope(|_| check_archive(tables.directory(), key, &self.pulse));
            match self.timed(Check::Archives, key, check) {
                Ok(passed) => report.passed.push(passed),
                Err(Fault::Stopped(_)) => return,
                Err(fault) => report.add(seeds, Check::Archives, &fault),
            }
        }
    }
}

/// Returns an error if an archive needs more memory than is available. One that cannot be opened passes.
fn fits(tables: &Tables, key: TableKey) -> Result<(), String> {
    let path = archive_path(tables.directory(), key);
    let Ok(info) = read_info(&path) else { return Ok(()) };
    let needed = decompress_memory(&info, rayon::current_num_threads());
    check_memory(needed, None, || format!("checking {} takes", path.display())).map_err(|error| with_advice(&error))
}
