use std::path::Path;

use kalah_core::game::{Position, Rules};
use kalah_core::index::{MAX_TABLE_SEEDS, layer_positions};
use kalah_core::table::TableKey;
use kalah_tables::builder::{Backend, BuildPlan};
use serde::Serialize;

use super::super::memory::SearchMemory;
use super::table_plan::{LayerKind, TablePlan};

/// Positions for which bound tables are made, per second and thread. It is half of the rate measured with exact
/// tables in the page cache (docs/measurements.md), since those of large layers are read from the disk.
const BOUNDS_RATE: f64 = 50e6;

/// A search with planned tables, and the means to make them.
#[derive(Clone, Copy, Debug)]
pub struct PlannedSearch<'a> {
    /// The rule set.
    pub rules: Rules,
    /// The position to search.
    pub position: Position,
    /// The directory of the tables.
    pub directory: &'a Path,
    /// The memory of the search.
    pub memory: SearchMemory,
    /// Free bytes of disk for missing tables; `None` if they are unknown.
    pub disk: Option<u64>,
    /// False if no bound tables can be made.
    pub with_bounds: bool,
    /// Backend that computes missing tables.
    pub backend: &'a Backend,
    /// Number of its threads.
    pub threads: usize,
}

/// A layer of a plan.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct PlannedLayer {
    /// The layer; in a document, its seeds.
    #[serde(rename = "seeds", serialize_with = "TableKey::serialize_seeds")]
    pub key: TableKey,
    /// Kind of its table.
    pub kind: LayerKind,
    /// Number of positions.
    pub positions: u64,
    /// Approximate bytes of the table.
    pub bytes: u64,
    /// True if the table exists.
    pub exists: bool,
}

/// Missing tables of a plan, and the cost of making them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MissingTables {
    /// Largest exact layer that is needed: that of the largest missing bound table, if there is one.
    pub exact_up_to: usize,
    /// Plan of the build of the missing exact layers up to there.
    pub exact: BuildPlan,
    /// Layers whose bound tables are missing, fewest seeds first.
    pub bounds: Vec<PlannedLayer>,
    /// Bytes of disk for all missing tables.
    pub disk: u64,
    /// Estimated seconds to make all missing tables.
    pub seconds: f64,
}

impl PlannedSearch<'_> {
    /// The best tables for the memory, up to `most` seeds, whether or not they fit the disk. `None` if there are no
    /// tables of such boards, or no memory for any.
    pub fn plan(&self, most: usize) -> Option<TablePlan> {
        let (pits, seeds) = (self.position.pits(), self.position.seeds() as usize);
        let plan = TablePlan::new(pits, seeds, self.memory, most)?;
        Some(if self.with_bounds { plan } else { plan.without_bounds() })
    }

    /// The best tables, up to `most` seeds, of which the missing ones fit the disk and meet `condition`. `None` if
    /// there is no such plan.
    pub fn plan_that_fits(
        &self,
        most: usize,
        condition: impl Fn(&MissingTables) -> bool,
    ) -> Option<(TablePlan, MissingTables)> {
        let fits = |missing: &MissingTables| self.disk.is_none_or(|free| missing.disk <= free) && condition(missing);
        let plans = (2..=most.min(MAX_TABLE_SEEDS)).rev().filter_map(|most| self.plan(most));
        plans.map(|plan| (plan, self.missing(&plan))).find(|(_, missing)| fits(missing))
    }

    /// The layers of a plan, from 2 seeds up.
    pub fn layers(&self, plan: &TablePlan) -> Vec<PlannedLayer> {
        let layer = |(seeds, kind): (usize, LayerKind)| {
            let key = TableKey { rules: self.rules, pits: plan.pits, seeds };
            let path = match kind {
                LayerKind::Exact => key.path(self.directory),
                LayerKind::TwoBits | LayerKind::OneBit => key.bounds_path(self.directory),
            };
            let positions = layer_positions(key.pits, seeds);
            PlannedLayer { key, kind, positions, bytes: kind.bytes(positions), exists: path.exists() }
        };
        plan.layers().map(layer).collect()
    }

    /// Missing tables of a plan. Bound tables are made from all exact tables up to their layers, including
    /// those that the search does not read.
    pub fn missing(&self, plan: &TablePlan) -> MissingTables {
        let is_missing = |layer: &PlannedLayer| layer.kind != LayerKind::Exact && !layer.exists;
        let bounds: Vec<PlannedLayer> = self.layers(plan).into_iter().filter(is_missing).collect();
        let exact_up_to = bounds.last().map_or(plan.exact, |layer| layer.key.seeds);
        let last = TableKey { rules: self.rules, pits: plan.pits, seeds: exact_up_to };
        let exact = BuildPlan::new(self.directory, last, self.backend, self.threads);
        let positions: u64 = bounds.iter().map(|layer| layer.positions).sum();
        MissingTables {
            exact_up_to,
            disk: exact.disk + bounds.iter().map(|layer| layer.bytes).sum::<u64>(),
            seconds: exact.seconds + positions as f64 / (BOUNDS_RATE * self.threads as f64),
            exact,
            bounds,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use kalah_core::isa::Isa;

    #[test]
    fn tables_that_are_there_are_not_missing() {
        let directory = tempfile::tempdir().unwrap();
        let backend = Backend::Cpu(Isa::detect());
        let search = PlannedSearch {
            rules: Rules::Standard,
            position: "6x6".parse().unwrap(),
            directory: directory.path(),
            memory: SearchMemory::new(Some(1 << 30), None),
            disk: None,
            with_bounds: true,
            backend: &backend,
            threads: 2,
        };
        let plan = search.plan(48).unwrap();
        let missing = search.missing(&plan);
        // Bound tables are made from exact ones.
        assert!(plan.exact < plan.one_bit && missing.exact_up_to == plan.one_bit, "{plan:?}");
        assert_eq!(missing.exact.missing.len(), plan.one_bit - 1);
        assert_eq!(missing.bounds.len(), plan.one_bit - plan.exact);

        // Only names are needed.
        for layer in search.layers(&plan).iter().filter(|layer| layer.kind != LayerKind::Exact) {
            fs::write(layer.key.bounds_path(search.directory), "").unwrap();
        }
        let missing = search.missing(&plan);
        assert!(missing.bounds.is_empty() && missing.exact_up_to == plan.exact);
        for layer in search.layers(&plan).iter().filter(|layer| layer.kind == LayerKind::Exact) {
            fs::write(layer.key.path(search.directory), "").unwrap();
        }
        let missing = search.missing(&plan);
        assert!(missing.exact.missing.is_empty() && (missing.disk, missing.seconds) == (0, 0.0), "{missing:?}");
    }

    #[test]
    fn a_plan_is_the_largest_that_the_disk_holds() {
        let directory = tempfile::tempdir().unwrap();
        let backend = Backend::Cpu(Isa::detect());
        let search = |disk, with_bounds| PlannedSearch {
            rules: Rules::Standard,
            position: "6x6".parse().unwrap(),
            directory: directory.path(),
            memory: SearchMemory::new(Some(64 << 30), None),
            disk,
            with_bounds,
            backend: &backend,
            threads: 2,
        };
        for with_bounds in [true, false] {
            let unlimited = search(None, with_bounds);
            let largest = unlimited.plan(48).unwrap();
            let needed = unlimited.missing(&largest).disk;
            let plan = |disk| search(Some(disk), with_bounds).plan_that_fits(48, |_| true);
            assert_eq!(plan(needed).unwrap().0, largest);
            let mut before = largest;
            for disk in [needed - 1, needed / 2, 20 << 30, 1 << 30, 1 << 20] {
                let (plan, missing) = plan(disk).unwrap();
                assert!(missing.disk <= disk && plan.one_bit < before.one_bit, "{disk}: {plan:?}");
                assert!(plan.nodes_relative_to(&before) > 1.0, "{disk}: {plan:?}");
                // One layer more does not fit.
                let next = unlimited.plan(plan.one_bit + 1).unwrap();
                assert!(unlimited.missing(&next).disk > disk, "{disk}: {next:?}");
                before = plan;
            }
            assert!(plan(1000).is_none());
            // Existing tables need no disk.
            for layer in unlimited.layers(&largest) {
                fs::write(layer.key.path(directory.path()), "").unwrap();
                fs::write(layer.key.bounds_path(directory.path()), "").unwrap();
            }
            assert_eq!(plan(0).unwrap().0, largest);
            fs::remove_dir_all(directory.path()).unwrap();
            fs::create_dir(directory.path()).unwrap();
        }
    }
}
