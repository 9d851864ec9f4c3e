//! The check of archives by `kalah verify`.

use kalah::index::layer_positions;
use kalah::system::check_memory;
use kalah::table::archive::{archive_path, decompress_memory, read_info};
use kalah::table::{TableKey, Tables};
use kalah::verify::{Fault, check_archive};

use crate::cli::failure::with_advice;
use crate::cli::output::progress::Progress;
use crate::cli::tables::verify::report::{BoardReport, Check};
use crate::cli::tables::verify::settings::CheckSettings;

/// Reason why a check that needs tables leaves out a layer.
const ARCHIVES_ONLY: &str = "which exist as archives only";

impl CheckSettings {
    /// Number of positions that the check of these archives will count.
    pub(super) fn archive_work(&self, tables: &Tables, archives: &[usize]) -> u64 {
        let positions = archives.iter().map(|&seeds| layer_positions(tables.pits(), seeds));
        if self.checks.contains(&Check::Checksums) { positions.sum() } else { 0 }
    }

    /// Checks the archives of a board with these seeds, if checksums are to be checked. Other checks leave out the
    /// layers without a table in `there`.
    pub(super) fn check_archives(
        &self,
        tables: &Tables,
        archives: &[usize],
        there: impl Fn(usize) -> bool,
        report: &mut BoardReport,
        progress: &Progress,
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
            let check = || rayon::scope(|_| check_archive(tables.directories(), key, &self.pulse));
            match self.timed(Check::Archives, seeds, progress, check) {
                Ok(passed) => report.passed.push(passed),
                Err(Fault::Stopped(_)) => return,
                Err(fault) => report.add(seeds, Check::Archives, &fault),
            }
        }
    }
}

/// Returns an error if an archive needs more memory than is available. One that cannot be opened passes.
fn fits(tables: &Tables, key: TableKey) -> Result<(), String> {
    let path = archive_path(tables.directories(), key);
    let Ok(info) = read_info(&path) else { return Ok(()) };
    let needed = decompress_memory(&info, rayon::current_num_threads());
    check_memory(needed, None, || format!("checking {} takes", path.display())).map_err(|error| with_advice(&error))
}
