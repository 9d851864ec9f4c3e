//! Builds, as they are announced and shown.

use std::time::Duration;

use indicatif::{HumanBytes, HumanDuration};
use kalah::build::{Backend, BuildEvent, BuildPlan};
use kalah::diagnostic::Diagnostic;
use kalah::index::layer_positions;
use kalah::table::TableKey;

use crate::cli::{Progress, note, output};

/// Notes which layers will be built, and their cost.
pub(crate) fn announce(plan: &BuildPlan, backend: &Backend, why: &str, is_shared: bool) {
    let Some(TableKey { rules, pits, .. }) = plan.missing.first().map(|layer| layer.key) else { return };
    note!(
        "{} to build{} for {rules} with {}: {}, {} of memory{}, {} of disk, about {} with {} ({}), {why}",
        output::count(plan.missing.len(), "layer"),
        if is_shared { " together with others" } else { "" },
        output::count(pits, "pit"),
        output::many(plan.positions, "position"),
        HumanBytes(plan.memory),
        device_memory(plan),
        HumanBytes(plan.disk),
        HumanDuration(Duration::from_secs_f64(plan.seconds)),
        output::count(rayon::current_num_threads(), "thread"),
        backend.name(),
    );
}

/// Returns the part of a plan's report on the memory of a GPU; empty on the CPU.
pub(crate) fn device_memory(plan: &BuildPlan) -> String {
    match plan.device_memory {
        0 => String::new(),
        bytes => format!(", at least {} of GPU memory", HumanBytes(bytes)),
    }
}

/// Prints an event of a build.
pub(crate) fn print_event(progress: &Progress, event: &BuildEvent) {
    let step = |what: String, positions: u64, seconds: f64| {
        let (rate, positions) = (output::rate(positions, seconds), output::many(positions, "position"));
        progress.step(seconds, &format!("{what}: {positions} in {seconds:.2} s, {rate}"));
    };
    match event {
        BuildEvent::Compare(key) => progress.stage(format!("comparing layer {}", key.seeds)),
        BuildEvent::Layer { key, positions, kept } => {
            progress.skip(layer_positions(key.pits, key.seeds) - positions);
            if *kept > 0 {
                let kept = output::count(*kept, "frame");
                progress.note(&format!("layer {}: {kept} kept from an earlier run", key.seeds));
            }
        }
        BuildEvent::Pair(frame) => {
            let (mover, other) = (frame.mover, frame.other);
            progress.stage(format!("layer {}, frames {mover}|{other}", mover + other));
        }
        BuildEvent::Done(record) => step(format!("layer {}", record.key.seeds), record.positions, record.seconds),
        BuildEvent::Piece { pair, seconds } => {
            let what = format!("layer {}, frames {}|{}", pair.layer.seeds, pair.small, pair.large());
            step(what, pair.positions(), *seconds);
        }
        BuildEvent::Joined(key) => progress.note(&format!("layer {}: joined", key.seeds)),
        BuildEvent::Damaged(error) => progress.line(&error.advised()),
        _ => {}
    }
}
