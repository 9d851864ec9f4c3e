//! Builds by several processes: `kalah build --share`.

use std::path::Path;
use std::time::Instant;

use indicatif::HumanCount;
use kalah::build::{BuildEvent, Builder};
use kalah::table::TableKey;
use serde::Serialize;

use crate::cli::output;
use crate::cli::output::progress::Progress;
use crate::cli::process::outcome::Outcome;
use crate::cli::process::signals::stopped_by_signal;
use crate::cli::tables::build::events;

#[derive(Serialize)]
struct SharedReport<'a> {
    rules: &'a str,
    pits: usize,
    seeds: usize,
    /// Number of pairs computed by this process.
    pairs: usize,
    /// Number of layers joined by this process.
    joined: usize,
    positions: u64,
    seconds: f64,
}

/// Builds the layers up to that of `last` together with other processes.
pub fn build(builder: &Builder, last: TableKey, directory: &Path, json: bool) -> anyhow::Result<Outcome> {
    let TableKey { rules, pits, seeds } = last;
    let (pulse, start) = (stopped_by_signal(), Instant::now());
    // The work of other processes is not counted, so there is no bar.
    let progress = Progress::new(0);
    let report = builder.run(&pulse, &|event| print_event(&progress, directory, &event))?;
    progress.finish();
    let (seconds, positions) = (start.elapsed().as_secs_f64(), report.positions());
    if json {
        let (pairs, joined, rules) = (report.pairs.len(), report.joined, rules.name());
        output::json(&SharedReport { rules, pits, seeds, pairs, joined, positions, seconds })?;
    } else {
        output::line(format_args!(
            "all layers to {seeds} seeds are in {}: {} of frames computed here ({} positions), {} joined, \
             {seconds:.1} s",
            directory.display(),
            output::count(report.pairs.len(), "pair"),
            HumanCount(positions),
            output::count(report.joined, "layer"),
        ))?;
    }
    Ok(Outcome::Done)
}

/// Prints an event.
fn print_event(progress: &Progress, directory: &Path, event: &BuildEvent) {
    match event {
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
        BuildEvent::Joined(key) => {
            let path = key.path(directory);
            progress.note(&format!("layer {}: joined, {}", key.seeds, path.display()));
        }
        event => events::print(progress, event),
    }
}
