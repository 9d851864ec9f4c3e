//! The check of `kalah verify` that archives take part in.

use std::time::Instant;

use indicatif::HumanCount;
use kalah::index::layer_positions;
use kalah::progress::Pulse;
use kalah::system::check_memory;
use kalah::table::archive::{archive_path, read_info, unpack_memory};
use kalah::table::{TableKey, Tables};
use kalah::verify::check_archive;

use crate::cli::errors::advice;
use crate::cli::output::progress::Progress;
use crate::cli::tables::verify::report::{BoardReport, Check, Passed};

/// Why a check that needs tables does not reach a layer.
const ARCHIVES_ONLY: &str = "of which there are archives only";

/// The checks that are asked for, as far as archives take part in them.
pub struct ArchiveChecks<'a> {
    pub checks: &'a [Check],
    pub pulse: &'a Pulse,
}

impl ArchiveChecks<'_> {
    /// Positions that the check of these archives will count.
    pub fn work(&self, tables: &Tables, archives: &[usize]) -> u64 {
        let positions = archives.iter().map(|&seeds| layer_positions(tables.pits(), seeds));
        if self.checks.contains(&Check::Checksums) { positions.sum() } else { 0 }
    }

    /// Checks the archives of a board with these seeds, if checksums are asked for; other checks leave out the layers of which no
    /// table is `there`.
    pub fn check(
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
            let (key, start) = (tables.key(seeds), Instant::now());
            progress.stage(format!("layer {seeds}, {}", Check::Archives.name()));
            if let Err(message) = fits(tables, key) {
                report.fail(Some(seeds), Check::Archives, message);
                continue;
            }
            // In the pool: what waits for tasks takes part in them.
            let check = || rayon::scope(|_| check_archive(tables.directory(), key, self.pulse));
            match progress.watch(&self.pulse.positions, check) {
                Ok(checked) => {
                    let seconds = start.elapsed().as_secs_f64();
                    let told = format!("{} {}, no fault, {seconds:.2} s", HumanCount(checked), Check::Archives.unit());
                    progress.step(seconds, &format!("layer {seeds}: {told}"));
                    report.passed.push(Passed { seeds, check: Check::Archives, checked, frames: None, seconds });
                }
                Err(fault) => report.add(seeds, Check::Archives, &fault),
            }
        }
    }
}

/// Compares the memory that an archive takes with what is available; an archive that cannot be opened fits.
fn fits(tables: &Tables, key: TableKey) -> Result<(), String> {
    let path = archive_path(tables.directory(), key);
    let Ok(info) = read_info(&path) else { return Ok(()) };
    let needed = unpack_memory(&info, rayon::current_num_threads());
    check_memory(needed, None, || format!("checking {} takes", path.display()))
        .map_err(|error| advice::with_advice(&error))
}
