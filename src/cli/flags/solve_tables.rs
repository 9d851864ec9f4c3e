//! Tables that are built before a search.

use std::path::Path;

use kalah::build::{Backend, BuildEvent, BuildPlan, Builder};
use kalah::cancel::Cancel;
use kalah::evaluation::Network;
use kalah::game::{Position, Rules};
use kalah::index::MAX_TABLE_SEEDS;
use kalah::isa::Isa;
use kalah::progress::Pulse;
use kalah::solve::{BoundNetwork, PlannedLayer, PlannedSearch, SearchMemory};
use kalah::system::available_disk;
use kalah::table::{BoundMaker, DirectoryLock, Table, TableKey};

use crate::cli::{Progress, Stoppable, failure, note, output};

/// Builds the missing tables that `kalah plan search` recommends for `position` and `memory`, as far as the disk has
/// room.
///
/// Those are exact tables, and bound tables for layers whose exact tables do not fit the memory. The build itself takes
/// at most `allowed` bytes of memory, if given. Nothing is deleted. `cancel` stops the build.
pub(crate) fn build_planned(
    directory: &Path,
    rules: Rules,
    position: &Position,
    memory: SearchMemory,
    allowed: Option<u64>,
    cancel: &Cancel,
) -> failure::Result<()> {
    let network = BoundNetwork::find(directory, directory, rules, position.pits())?.map(|found| found.network);
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
    let planned = search.plan_that_fits(MAX_TABLE_SEEDS, |missing| missing.exact.check(directory, allowed).is_ok());
    let Some((_, missing)) = planned else { return Ok(()) };
    let last = TableKey { rules, pits: position.pits(), seeds: missing.exact_up_to };
    build_layers(directory, last, &missing.exact, cancel)?;
    match network {
        Some(network) => make_bounds(directory, &network, &missing.bounds, cancel),
        None => Ok(()),
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

/// Builds the missing tables up to that of `last`, within `memory` bytes. `cancel` stops the build.
pub(crate) fn build(directory: &Path, last: TableKey, memory: Option<u64>, cancel: &Cancel) -> failure::Result<()> {
    if last.seeds < 2 {
        return Ok(());
    }
    let plan = BuildPlan::new(directory, last, &Backend::Cpu(Isa::detect()), rayon::current_num_threads());
    plan.check(directory, memory)?;
    build_layers(directory, last, &plan, cancel)
}

/// Builds the missing tables of `plan`, up to that of `last`.
fn build_layers(directory: &Path, last: TableKey, plan: &BuildPlan, cancel: &Cancel) -> failure::Result<()> {
    if plan.missing.is_empty() {
        return Ok(());
    }
    note!(
        "building {} to {} seeds: {}",
        output::count(plan.missing.len(), "layer"),
        last.seeds,
        output::many(plan.positions, "position")
    );
    let progress = Progress::new(plan.positions);
    let pulse = Pulse::new(cancel.clone());
    let on_event = |event: BuildEvent| {
        if let BuildEvent::Pair(frame) = event {
            let (mover, other) = (frame.mover, frame.other);
            progress.stage(format!("layer {}, frames {mover}|{other}", mover + other));
        }
    };
    let builder = Builder::new(directory, last).backend(Backend::Cpu(Isa::detect()));
    progress.complete(&pulse.positions, || builder.run(&pulse, &on_event))?;
    Ok(())
}
