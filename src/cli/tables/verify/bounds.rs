//! The checks of `kalah verify` that bound tables take part in.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use indicatif::HumanCount;
use kalah::progress::Pulse;
use kalah::table::{BoundTable, Table, TableKey, Tables};
use kalah::verify::{BoundSet, Fault, Sample, check_bound_checksums, check_bounds_against};

use crate::cli::output::progress::Progress;
use crate::cli::tables::verify::report::{BoardReport, Check, Passed};

/// Opens the bound tables of a board with these numbers of seeds, up to `most`, and notes those that cannot be opened.
pub fn open(tables: &Tables, there: &[usize], most: usize, report: &mut BoardReport) -> Vec<Arc<BoundTable>> {
    let mut opened = Vec::new();
    for &seeds in there.iter().filter(|&&seeds| seeds <= most) {
        let key = TableKey { seeds, ..tables.key(2) };
        match BoundTable::open(&key.bounds_path(tables.directory())) {
            Ok(table) => opened.push(Arc::new(table)),
            Err(error) => report.add(seeds, Check::Files, &error.into()),
        }
    }
    opened
}

/// The exact table of a layer, also above one that is missing.
fn exact<'a>(tables: &'a Tables, chosen: &'a BTreeMap<usize, Arc<Table>>, seeds: usize) -> Option<&'a Table> {
    tables.layer(seeds).or_else(|| chosen.get(&seeds).map(|table| &**table))
}

/// The checks that are asked for, as far as bound tables take part in them.
pub struct BoundChecks<'a> {
    /// The layer to be checked; `None` for all.
    pub seeds: Option<usize>,
    /// Positions to look at in each layer, and the start of the random numbers; `None` for all positions.
    pub sample: Option<(u64, u64)>,
    pub checks: &'a [Check],
    pub pulse: &'a Pulse,
}

impl BoundChecks<'_> {
    /// The bound tables of a board that are to be checked.
    fn chosen<'b>(&self, bounds: &'b [Arc<BoundTable>]) -> impl Iterator<Item = &'b BoundTable> {
        let asked = self.seeds;
        bounds.iter().map(|table| &**table).filter(move |table| asked.is_none_or(|seeds| table.key().seeds == seeds))
    }

    /// The checks that are made of a bound table, by those that are asked for.
    fn bound_checks(&self, is_exact_there: bool) -> impl Iterator<Item = Check> {
        let consistency = if is_exact_there { Check::BoundsAgainstExact } else { Check::BoundConsistency };
        self.checks.iter().filter_map(move |check| match check {
            Check::Checksums => Some(Check::BoundChecksums),
            Check::Consistency => Some(consistency),
            _ => None,
        })
    }

    /// Positions that these checks will count.
    ///
    /// `chosen` are the exact tables that are checked, also those above a missing layer, which are not in `tables`.
    pub fn work(&self, tables: &Tables, chosen: &BTreeMap<usize, Arc<Table>>, bounds: &[Arc<BoundTable>]) -> u64 {
        let of_table = |table: &BoundTable| -> u64 {
            let of_check = |check| match check {
                Check::BoundsAgainstExact => table.header().positions,
                Check::BoundConsistency => self.sample_of(table).positions(),
                _ => 0,
            };
            let exact = exact(tables, chosen, table.key().seeds);
            self.bound_checks(exact.is_some()).map(of_check).sum()
        };
        self.chosen(bounds).map(of_table).sum()
    }

    fn sample_of(&self, table: &BoundTable) -> Sample {
        let (count, random_seed) = self.sample.unwrap_or((u64::MAX, 0));
        Sample::new(table.key(), count, random_seed)
    }

    /// Makes the checks of all bound tables of a board, given as to [`work`](Self::work).
    pub fn check(
        &self,
        tables: &Tables,
        chosen: &BTreeMap<usize, Arc<Table>>,
        bounds: &[Arc<BoundTable>],
        report: &mut BoardReport,
        progress: &Progress,
    ) {
        let set = BoundSet::new(tables, bounds);
        let mut above = Vec::new();
        for table in self.chosen(bounds) {
            let seeds = table.key().seeds;
            let exact = exact(tables, chosen, seeds);
            for check in self.bound_checks(exact.is_some()) {
                if check == Check::BoundConsistency && !set.reaches(seeds) {
                    above.push(seeds);
                    continue;
                }
                let start = Instant::now();
                progress.stage(format!("layer {seeds}, {}", check.name()));
                let checked = progress.watch(&self.pulse.positions, || self.count_bounds(check, exact, &set, table));
                match checked {
                    Ok(checked) => {
                        let seconds = start.elapsed().as_secs_f64();
                        let told = format!("{} {}, no fault, {seconds:.2} s", HumanCount(checked), check.unit());
                        progress.step(seconds, &format!("layer {seeds}: {told}"));
                        report.passed.push(Passed { seeds, check, checked, frames: None, seconds });
                    }
                    Err(fault) => report.add(seeds, check, &fault),
                }
            }
        }
        report.leave_out(Check::BoundConsistency, above, "because a layer below is missing or damaged");
    }

    /// What a check counts of a bound table.
    fn count_bounds(
        &self,
        check: Check,
        exact: Option<&Table>,
        set: &BoundSet<'_>,
        table: &BoundTable,
    ) -> Result<u64, Fault> {
        match (check, exact) {
            (Check::BoundChecksums, _) => check_bound_checksums(table),
            // In the pool: what waits for tasks takes part in them.
            (_, Some(exact)) => rayon::scope(|_| check_bounds_against(exact, table, self.pulse)),
            (_, None) => set.check(&self.sample_of(table), &self.pulse.positions),
        }
    }
}
