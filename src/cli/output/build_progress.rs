//! Builds, as they are announced and shown.

use std::time::Duration;

use indicatif::{HumanBytes, HumanCount, HumanDuration};
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
    match event {
        BuildEvent::Layer { key, positions, kept } => {
            progress.skip(layer_positions(key.pits, key.seeds) - positions);
            if *kept > 0 {
                progress.note(&format!(
                    "layer {}: {} kept from an earlier run",
                    key.seeds,
                    output::count(*kept, "frame")
                ));
            }
        }
        BuildEvent::Pair(frame) => {
            let (mover, other) = (frame.mover, frame.other);
            progress.stage(format!("layer {}, frames {mover}|{other}", mover + other));
        }
        BuildEvent::Done(record) => progress.step(
            record.seconds,
            &format!(
                "layer {}: {} in {:.2} s, {}",
                record.key.seeds,
                output::many(record.positions, "position"),
                record.seconds,
                output::rate(record.positions, record.seconds),
            ),
        ),
        BuildEvent::Piece { pair, seconds } => progress.step(
            *seconds,
            &format!(
                "layer {}, frames {}|{}: {} positions in {seconds:.2} s, {}",
                pair.layer.seeds,
                pair.small,
                pair.large(),
                HumanCount(pair.positions()),
                output::rate(pair.positions(), *seconds),
            ),
        ),
        BuildEvent::Joined(key) => progress.note(&format!("layer {}: joined", key.seeds)),
        BuildEvent::Damaged(error) => progress.line(&error.advised()),
        _ => {}
    }
}
