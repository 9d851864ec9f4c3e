//! Settings of the checks of all boards, and one check with its time.

use std::time::Instant;

use indicatif::HumanCount;
use kalah::build::Backend;
use kalah::progress::Pulse;
use kalah::table::Manifest;
use kalah::verify::Fault;

use crate::cli::output::progress::Progress;
use crate::cli::tables::verify::report::{Check, Passed};

/// Settings of the checks of all boards.
pub(super) struct CheckSettings {
    /// Layer to check; `None` for all.
    pub seeds: Option<usize>,
    /// Sample of each layer, and the seed of its random choice; `None` for all positions.
    pub sample: Option<(u64, u64)>,
    /// True with --all.
    pub all: bool,
    pub checks: Vec<Check>,
    pub manifest: Option<Manifest>,
    pub backend: Backend,
    pub pulse: Pulse,
}

impl CheckSettings {
    /// Makes one check of a layer, which counts what it has checked, and shows its progress.
    pub(super) fn timed(
        &self,
        check: Check,
        seeds: usize,
        progress: &Progress,
        count: impl FnOnce() -> Result<u64, Fault>,
    ) -> Result<Passed, Fault> {
        let start = Instant::now();
        progress.stage(format!("layer {seeds}, {}", check.name()));
        let checked = progress.watch(&self.pulse.positions, count)?;
        let seconds = start.elapsed().as_secs_f64();
        let summary = format!("{} {}, no fault, {seconds:.2} s", HumanCount(checked), check.unit());
        progress.step(seconds, &format!("layer {seeds}: {summary}"));
        // Every frame is visited, see `Sample::frames`.
        let frames = (check == Check::Consistency).then_some(seeds - 1);
        Ok(Passed { seeds, check, checked, frames, seconds, earlier: false })
    }
}
