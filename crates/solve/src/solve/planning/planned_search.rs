use std::path::Path;

use kalah_base::system::available_disk;
use kalah_core::game::{Position, Rules};
use kalah_core::index::layer_positions;
use kalah_core::table::TableKey;
use kalah_tables::builder::{Backend, BuildPlan};

use super::super::options::SolverOptions;
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
    /// Bytes of memory for the whole search; `None` for the [default](SolverOptions::default_memory).
    pub memory: Option<u64>,
    /// Bytes of the transposition table; `None` for what the tables leave.
    pub transpositions: Option<u64>,
    /// Backend that computes missing tables.
    pub backend: &'a Backend,
    /// Number of its threads.
    pub threads: usize,
}

/// A layer of a plan.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PlannedLayer {
    /// The layer.
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
    /// Bytes of memory for the whole search; 0 if it is not set and the system does not report it.
    pub fn memory(&self) -> u64 {
        self.memory.or_else(SolverOptions::default_memory).unwrap_or(0)
    }

    /// The best tables for the search, up to `most` seeds. `None` if there are no tables of such boards, or no
    /// memory for any.
    pub fn plan(&self, most: usize) -> Option<TablePlan> {
        self.plan_within(self.memory(), most)
    }

    fn plan_within(&self, memory: u64, most: usize) -> Option<TablePlan> {
        let (pits, seeds) = (self.position.pits(), self.position.seeds() as usize);
        TablePlan::new(pits, seeds, memory, self.transpositions, most)
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

    /// Missing tables of the largest plan whose missing tables fit memory and disk. Without an evaluation
    /// network there are no new bound tables. `None` if nothing fits.
    pub fn missing_that_fit(&self, has_network: bool) -> Option<MissingTables> {
        let memory = self.memory();
        let planned = (2..=self.position.seeds() as usize).rev().filter_map(|most| self.plan_within(memory, most));
        let mut missing = planned.map(|plan| self.missing(&if has_network { plan } else { plan.without_bounds() }));
        missing.find(|missing| {
            missing.exact.check(self.directory, self.memory).is_ok() && missing.disk_shortage(self.directory).is_none()
        })
    }
}

impl MissingTables {
    /// Free bytes in `directory` if these tables do not fit there. `None` if they fit, or the free bytes are
    /// unknown.
    pub fn disk_shortage(&self, directory: &Path) -> Option<u64> {
        available_disk(directory).filter(|&free| free < self.disk)
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
            memory: Some(1 << 30),
            transpositions: None,
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
}
