//! Tables that are built before a search.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::HumanCount;
use kalah::build::{Backend, Builder, Event, Plan};
use kalah::game::Rules;
use kalah::isa::Isa;
use kalah::progress::Pulse;
use kalah::table::TableKey;

use super::output;
use super::progress::Progress;

/// Builds the missing tables up to `seeds`; where `what_fits` is set, only as many as fit memory and disk. Setting `stop` ends
/// the build, before the next pair of frames.
pub fn build(
    directory: &Path,
    rules: Rules,
    pits: usize,
    seeds: usize,
    what_fits: bool,
    memory: Option<u64>,
    stop: &AtomicBool,
) -> anyhow::Result<()> {
    let threads = rayon::current_num_threads();
    let backend = Backend::Cpu(Isa::detect());
    let mut seeds = seeds;
    let plan = loop {
        if seeds < 2 {
            return Ok(());
        }
        let plan = Plan::new(directory, TableKey { rules, pits, seeds }, &backend, threads);
        match plan.check(directory, memory) {
            Ok(()) => break plan,
            Err(_) if what_fits => seeds -= 1,
            Err(error) => return Err(error.into()),
        }
    };
    if plan.missing.is_empty() {
        return Ok(());
    }
    output::note(format_args!(
        "building {} to {seeds} seeds: {} positions",
        output::count(plan.missing.len(), "layer"),
        HumanCount(plan.positions)
    ));
    let progress = Progress::new(plan.positions);
    let pulse = Pulse::default();
    let on_event = |event: Event| {
        if stop.load(Ordering::Relaxed) {
            pulse.stop();
        }
        if let Event::Pair(frame) = event {
            let (mover, other) = (frame.mover, frame.other);
            progress.stage(format!("layer {}, frames {mover}|{other}", mover + other));
        }
    };
    let builder = Builder::new(directory, TableKey { rules, pits, seeds }).backend(backend);
    let built = progress.watch(&pulse.positions, || builder.run(&pulse, &on_event));
    progress.finish();
    built?;
    Ok(())
}
