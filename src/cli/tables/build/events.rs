//! Progress lines that all ways to build print.

use kalah::build::BuildEvent;
use kalah::index::layer_positions;

use crate::cli::errors::advice;
use crate::cli::output;
use crate::cli::output::progress::Progress;

/// Prints an event that every kind of build has.
pub fn print(progress: &Progress, event: &BuildEvent) {
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
        BuildEvent::Compressing(key) => progress.stage(format!("layer {}, packing", key.seeds)),
        BuildEvent::Done(record) => progress.step(
            record.seconds,
            &format!(
                "layer {}: {} in {:.2} s, {}",
                record.seeds,
                output::many(record.positions, "position"),
                record.seconds,
                output::rate(record.positions, record.seconds),
            ),
        ),
        BuildEvent::Damaged(error) => progress.line(&advice::with_advice(*error)),
        _ => {}
    }
}
