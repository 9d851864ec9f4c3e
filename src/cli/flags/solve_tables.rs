//! Tables that are built before a search.

use std::path::Path;

use kalah::build::{Backend, BuildEvent, BuildPlan, Builder};
use kalah::cancel::Cancel;
use kalah::evaluation::Network;
use kalah::file::is_in_memory;
use kalah::game::{Position, Rules};
use kalah::index::MAX_TABLE_SEEDS;
use kalah::isa::Isa;
use kalah::progress::Pulse;
use kalah::solve::{PlannedLayer, PlannedSearch, SearchMemory, SearchPlan, bound_network};
use kalah::system::available_disk;
use kalah::table::{BoundMaker, DirectoryLock, Table, TableKey};
use kalah::text::runs;

use crate::cli::flags::compute::Compute;
use crate::cli::output::build_progress::{announce, print_event};
use crate::cli::{Context, Progress, Stoppable, failure, note, output};

/// A build of the missing tables that `kalah plan search` recommends, as far as the disk has room.
///
/// Those are exact tables, and bound tables for layers whose exact tables do not fit the memory. If the directory is in
/// memory, exact tables that were built only for bound tables are removed at the end. On a disk, nothing is.
pub(crate) struct PlannedBuild<'a> {
    pub compute: &'a Compute,
    /// Bytes of memory that the build itself may take, if they are limited.
    pub allowed: Option<u64>,
    /// Stops the build.
    pub cancel: &'a Cancel,
}

impl PlannedBuild<'_> {
    /// Builds the tables for a search of `position` with this memory.
    pub(crate) fn run(
        &self,
        directory: &Path,
        rules: Rules,
        position: &Position,
        memory: SearchMemory,
    ) -> failure::Result<()> {
        let network = bound_network(directory, directory, rules, position.pits())?;
        let search = PlannedSearch {
            rules,
            position: *position,
            directory,
            memory,
            disk: available_disk(directory),
            with_bounds: network.is_some(),
            backend: &Backend::Cpu(Isa::detect()),
            threads: rayon::current_num_threads(),
        };
        let fits = |plan: &SearchPlan| plan.build.check(directory, self.allowed).is_ok();
        let Some(plan) = search.plan_that_fits(MAX_TABLE_SEEDS, fits) else { return Ok(()) };
        let last = TableKey { rules, pits: position.pits(), seeds: plan.exact_up_to };
        build(directory, last, self.allowed, Some(self.compute), self.cancel)?;
        let Some(network) = network else { return Ok(()) };
        make_bounds(directory, &network, &plan.bounds, self.cancel)?;
        let built = plan.build.missing.iter().map(|layer| layer.key);
        let unread: Vec<TableKey> = built.filter(|key| key.seeds > plan.exact).collect();
        if !unread.is_empty() && is_in_memory(directory) {
            let _lock = DirectoryLock::take(directory)?;
            for key in &unread {
                let path = key.path(directory);
                std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
            }
            let layers: Vec<usize> = unread.iter().map(|key| key.seeds).collect();
            note!("removed exact tables of {} seeds from memory: the search reads their bound tables", runs(&layers));
        }
        Ok(())
    }
}

/// Makes bound tables of these layers from their exact tables.
fn make_bounds(directory: &Path, network: &Network, layers: &[PlannedLayer], cancel: &Cancel) -> failure::Result<()> {
    if layers.is_empty() {
        return Ok(());
    }
    let _lock = DirectoryLock::take(directory)?;
    let positions = layers.iter().map(|layer| layer.positions).sum();
    note!("making bound tables of {}: {}", output::count(layers.len(), "layer"), output::many(positions, "position"));
    let (progress, pulse) = (Progress::new(positions), Pulse::new(cancel.clone()));
    for &PlannedLayer { key, kind, .. } in layers {
        let Some(cuts) = kind.cuts() else { continue };
        progress.stage(format!("bound table of layer {}", key.seeds));
        let maker = BoundMaker::new(network, cuts);
        let exact = Table::open_key(directory, key)?;
        // Run in the pool, so that the waiting thread works on tasks, too.
        let write = || rayon::scope(|_| maker.write(&exact, directory, &pulse));
        progress
            .watch(&pulse.positions, write)
            .if_stopped(format_args!("stopped in the bound table of layer {}: finished tables are kept", key.seeds))?;
    }
    progress.finish();
    Ok(())
}

/// Builds the missing tables up to that of `last`, within `memory` bytes, on the CPU unless `compute` chooses. `cancel`
/// stops the build.
pub(crate) fn build(
    directory: &Path,
    last: TableKey,
    memory: Option<u64>,
    compute: Option<&Compute>,
    cancel: &Cancel,
) -> failure::Result<()> {
    if (2..=last.seeds).all(|seeds| TableKey { seeds, ..last }.path(directory).exists()) {
        return Ok(());
    }
    let on_cpu = || Ok((Backend::Cpu(Isa::detect()), "on the CPU".to_owned()));
    let (backend, why) = compute.map_or_else(on_cpu, |compute| compute.choose_for(last))?;
    let plan = BuildPlan::new(directory, last, &backend, rayon::current_num_threads());
    announce(&plan, &backend, &why, false);
    plan.check(directory, memory)?;
    let (progress, pulse) = (Progress::new(plan.positions), Pulse::new(cancel.clone()));
    let on_event = |event: BuildEvent| print_event(&progress, &event);
    let builder = Builder::new(directory, last).backend(backend);
    progress.complete(&pulse.positions, || builder.run(&pulse, &on_event))?;
    Ok(())
}
