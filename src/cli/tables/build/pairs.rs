//! Builds by several processes: `kalah build --frame` and `--share`.

use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanCount};
use kalah::build::{Backend, BuildEvent, BuildPlan, Builder};
use kalah::table::{PairKey, TableKey};
use serde::Serialize;

use crate::cli::flags::args;
use crate::cli::output;
use crate::cli::output::progress::Progress;
use crate::cli::process::outcome::Outcome;
use crate::cli::process::signals::stopped_by_signal;
use crate::cli::tables::build::events;

/// Settings of both ways.
pub struct Pairs<'a> {
    pub common: &'a args::Common,
    pub backend: &'a Backend,
    /// Reason for this backend, in words.
    pub why: &'a str,
    /// Maximum memory of the process.
    pub memory: Option<u64>,
    /// Time without a sign of life after which another process counts as dead.
    pub patience: Duration,
}

#[derive(Serialize)]
struct FrameReport<'a> {
    rules: &'a str,
    pits: usize,
    seeds: usize,
    /// Seeds in the two rows, fewer first.
    frame: [usize; 2],
    /// False if the piece or the layer existed.
    computed: bool,
    /// True if the layer is finished.
    finished: bool,
    /// Positions computed.
    positions: u64,
    seconds: f64,
}

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

impl Pairs<'_> {
    /// Computes the pair of frames `mover`|`seeds - mover`.
    pub fn frame(&self, (seeds, mover): (usize, usize)) -> anyhow::Result<Outcome> {
        let args::BoardFlags { rules, pits } = self.common.board;
        let directory = &self.common.tables.path;
        let pair = PairKey::new(TableKey { rules, pits, seeds }, mover).expect("the flag was checked");
        let threads = rayon::current_num_threads();
        // Pairs that already exist need no memory.
        if !pair.piece_path(directory).exists() && !pair.layer.path(directory).exists() {
            let plan = BuildPlan::of_pair(pair, self.backend, threads);
            output::note(format_args!(
                "{pair}: {} positions, {} of memory, with {} ({}), {}",
                HumanCount(plan.positions),
                HumanBytes(plan.memory),
                output::count(threads, "thread"),
                self.backend.name(),
                self.why,
            ));
            plan.check(directory, self.memory)?;
        }
        let progress = Progress::new(pair.positions());
        let on_event = |event: BuildEvent| print_event(&progress, directory, &event);
        let (report, seconds) = events::run(&progress, |pulse| self.builder(seeds).run_pair(pair, pulse, &on_event))?;
        let positions = if report.computed { pair.positions() } else { 0 };
        if self.common.json {
            let (frame, rules) = ([pair.small, pair.large()], rules.name());
            let (computed, finished) = (report.computed, report.finished);
            output::json(&FrameReport { rules, pits, seeds, frame, computed, finished, positions, seconds })?;
        } else {
            let did = match report.computed {
                true => format!("computed in {seconds:.1} s ({})", output::rate(positions, seconds)),
                false => "exists already".to_owned(),
            };
            let layer = if report.finished { "finished" } else { "not finished yet" };
            output::line(format_args!("{pair}: {did}; the layer is {layer}"))?;
        }
        Ok(Outcome::Done)
    }

    /// Returns the builder that shares the layers up to `seeds` with other processes.
    fn builder(&self, seeds: usize) -> Builder<'_> {
        let args::BoardFlags { rules, pits } = self.common.board;
        let last = TableKey { rules, pits, seeds };
        Builder::new(&self.common.tables.path, last).backend(self.backend.clone()).shared(self.patience)
    }

    /// Builds the layers up to `seeds` together with other processes.
    pub fn share(&self, seeds: usize) -> anyhow::Result<Outcome> {
        let args::BoardFlags { rules, pits } = self.common.board;
        let directory = &self.common.tables.path;
        let threads = rayon::current_num_threads();
        let plan = BuildPlan::new(directory, TableKey { rules, pits, seeds }, self.backend, threads);
        if !plan.missing.is_empty() {
            let board = output::count(pits, "pit");
            output::note(format_args!(
                "{} to build together with others for {rules} with {board}: {} positions, {} of memory a process, \
                 {} of disk, with {} here ({}), {}",
                output::count(plan.missing.len(), "layer"),
                HumanCount(plan.positions),
                HumanBytes(plan.memory),
                HumanBytes(plan.disk),
                output::count(threads, "thread"),
                self.backend.name(),
                self.why,
            ));
        }
        plan.check(directory, self.memory)?;
        let (pulse, start) = (stopped_by_signal(), Instant::now());
        // The work of other processes is not counted, so there is no bar.
        let progress = Progress::new(0);
        let on_event = |event: BuildEvent| print_event(&progress, directory, &event);
        let report = self.builder(seeds).run(&pulse, &on_event)?;
        progress.finish();
        let (seconds, positions) = (start.elapsed().as_secs_f64(), report.positions());
        if self.common.json {
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
