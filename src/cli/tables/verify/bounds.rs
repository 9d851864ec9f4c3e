//! The checks of bound tables by `kalah verify`.

use std::collections::BTreeMap;
use std::sync::Arc;

use kalah::table::{BoundTable, Table, TableKey, Tables};
use kalah::verify::{BoundSet, Fault, Sample, check_bounds_against, check_checksums};

use crate::cli::tables::verify::checks::CheckSettings;
use crate::cli::tables::verify::report::{BoardReport, Check};

/// Opens the bound tables of a board with these numbers of seeds, up to `most`, and records those that cannot be
/// opened.
pub(super) fn open(tables: &Tables, there: &[usize], most: usize, report: &mut BoardReport) -> Vec<Arc<BoundTable>> {
    let mut opened = Vec::new();
    for &seeds in there.iter().filter(|&&seeds| seeds <= most) {
        let key = TableKey { seeds, ..tables.key(2) };
        match BoundTable::open(tables.directory().file(&key.bounds_name())) {
            Ok(table) => opened.push(Arc::new(table)),
            Err(error) => report.add(seeds, Check::Files, &error.into()),
        }
    }
    opened
}

/// Returns the exact table of a layer, also above a gap.
fn exact<'a>(tables: &'a Tables, chosen: &'a BTreeMap<usize, Arc<Table>>, seeds: usize) -> Option<&'a Table> {
    tables.layer(seeds).or_else(|| chosen.get(&seeds).map(|table| &**table))
}

impl CheckSettings {
    /// Returns the bound tables of a board to check.
    fn chosen_bounds<'b>(&self, bounds: &'b [Arc<BoundTable>]) -> impl Iterator<Item = &'b BoundTable> {
        let asked = self.seeds;
        bounds.iter().map(|table| &**table).filter(move |table| asked.is_none_or(|seeds| table.key().seeds == seeds))
    }

    /// Returns the checks that apply to a bound table.
    fn bound_checks(&self, is_exact_there: bool) -> impl Iterator<Item = Check> {
        let consistency = if is_exact_there { Check::BoundsAgainstExact } else { Check::BoundConsistency };
        self.checks.iter().filter_map(move |check| match check {
            Check::Checksums => Some(Check::BoundChecksums),
            Check::Consistency => Some(consistency),
            _ => None,
        })
    }

    fn sample_of(&self, table: &BoundTable) -> Sample {
        let (count, random_seed) = self.sample.unwrap_or((u64::MAX, 0));
        Sample::new(table.key(), count, random_seed)
    }

    /// Runs the checks of all bound tables of a board.
    ///
    /// `chosen` are the exact tables to check, including those above a gap, which are not in `tables`.
    pub(super) fn check_bounds(
        &self,
        tables: &Tables,
        chosen: &BTreeMap<usize, Arc<Table>>,
        bounds: &[Arc<BoundTable>],
        report: &mut BoardReport,
    ) {
        let set = BoundSet::new(tables, bounds);
        let mut above = Vec::new();
        for table in self.chosen_bounds(bounds) {
            let seeds = table.key().seeds;
            let exact = exact(tables, chosen, seeds);
            for check in self.bound_checks(exact.is_some()) {
                if self.pulse.check().is_err() {
                    return;
                }
                if check == Check::BoundConsistency && !set.reaches(seeds) {
                    above.push(seeds);
                    continue;
                }
                match self.timed(check, table.key(), || self.count_bounds(check, exact, &set, table)) {
                    Ok(passed) => report.passed.push(passed),
                    Err(Fault::Stopped(_)) => return,
                    Err(fault) => report.add(seeds, check, &fault),
                }
            }
        }
        report.leave_out(Check::BoundConsistency, above, "because a layer below is missing or damaged");
    }

    /// Number of things that a check counts in a bound table.
    fn count_bounds(
        &self,
        check: Check,
        exact: Option<&Table>,
        set: &BoundSet<'_>,
        table: &BoundTable,
    ) -> Result<u64, Fault> {
        match (check, exact) {
            (Check::BoundChecksums, _) => check_checksums(table.blocks()),
            // Run in the pool, so that the waiting thread works on tasks, too.
            (_, Some(exact)) => rayon::scope(|_| check_bounds_against(exact, table, &self.pulse)),
            (_, None) => set.check(&self.sample_of(table), &self.pulse),
        }
    }
}
