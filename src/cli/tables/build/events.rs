//! Progress that all ways to build show.

use std::time::Instant;

use kalah::build::{BuildError, BuildEvent};
use kalah::index::layer_positions;
use kalah::progress::Pulse;

use crate::cli::errors::advice;
use crate::cli::output;
use crate::cli::output::progress::Progress;
use crate::cli::process::signals::stopped_by_signal;

/// Runs a build, and shows its progress. Returns its report, and its time in seconds.
pub fn run<T>(
    progress: &Progress,
    build: impl FnOnce(&Pulse) -> Result<T, BuildError>,
) -> Result<(T, f64), BuildError> {
    let (pulse, start) = (stopped_by_signal(), Instant::now());
    let report = progress.complete(&pulse.positions, || build(&pulse))?;
    Ok((report, start.elapsed().as_secs_f64()))
}

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
