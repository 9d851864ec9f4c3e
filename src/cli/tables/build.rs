//! `kalah build`.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{HumanBytes, HumanCount, HumanDuration};
use kalah::build::{Backend, BuildError, BuildEvent, BuildPlan, BuildReport, Builder};
use kalah::index::layer_positions;
use kalah::progress::Pulse;
use kalah::table::{BoundMaker, Cuts, TableKey};
use parking_lot::Mutex;
use serde::Serialize;

use crate::cli::tables::bounds;
use crate::cli::{
    Compute, Outcome, Progress, args, examples, failure, line, note, output, return_freed_memory, stopped_by_signal,
    with_advice,
};

/// Build the tables of all layers, keeping those that exist
///
/// Tables hold the exact score of every position with a given number of seeds in play. Build them before you probe,
/// and to make searches faster. Layers are built from 2 seeds up, since each needs those below it. Run the same
/// command again after an interruption (Ctrl-C): it continues after the last finished frame. `kalah plan build` shows
/// the time, memory and disk space first. See docs/building.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Build all layers to 24 seeds, about 640 MB", "kalah build --seeds 24"),
    ("Build tables for standard rules on the CPU with two threads", "kalah build --seeds 20 --rules standard \
         --backend cpu --threads 2"),
]))]
pub(crate) struct Build {
    /// Build up to this many seeds in play
    #[arg(long, value_name = "N", value_parser = args::seeds)]
    seeds: usize,
    /// Build only the layer of --seeds; an error if a lower layer is missing
    #[arg(long)]
    only: bool,
    /// Share the build with all processes that run this command in the same directory, on any number of machines
    #[arg(long, conflicts_with = "only")]
    share: bool,
    /// With --share: treat another process as dead after this time without a sign of life
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = args::patience)]
    patience: Duration,
    /// Also make bound tables of the layers from this many seeds up, with the default cuts of `kalah bounds`.
    /// Existing bound tables are kept, whatever their cuts
    #[arg(long, value_name = "N", value_parser = args::seeds, conflicts_with = "share")]
    bounds: Option<usize>,
    #[command(flatten)]
    compute: Compute,
    #[command(flatten)]
    common: args::Common,
    /// Limit the memory of the build, page cache excluded, such as 4GiB [default: the available memory]
    #[arg(long, value_name = "SIZE", value_parser = args::memory)]
    memory: Option<u64>,
}

#[derive(Serialize)]
struct TablesReport<'a> {
    rules: &'a str,
    pits: usize,
    seeds: usize,
    kept: usize,
    built: &'a [kalah::build::BuildRecord],
    /// Number of bound tables made.
    bounds: usize,
    positions: u64,
    seconds: f64,
}

impl Build {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        return_freed_memory();
        self.common.threads.start()?;
        let args::BoardFlags { rules, pits } = self.common.board;
        let directory = &self.common.tables.path;
        // Frees the disk space of killed measurements.
        kalah::temporary::remove_dead(directory);
        let (backend, why) = self.compute.choose(rules)?;
        let last = TableKey { rules, pits, seeds: self.seeds };
        let plan = BuildPlan::new(directory, last, &backend, rayon::current_num_threads());
        self.announce(&plan, &backend, &why);
        plan.check(directory, self.memory)?;
        if self.share {
            let builder = Builder::new(directory, last).backend(backend).shared(self.patience);
            return build_shared(&builder, last, directory, self.common.json);
        }
        self.tables(&plan, last, backend)
    }

    /// Prints which layers will be built, and their cost.
    fn announce(&self, plan: &BuildPlan, backend: &Backend, why: &str) {
        if plan.missing.is_empty() {
            return;
        }
        let args::BoardFlags { rules, pits } = self.common.board;
        note!(
            "{} to build{} for {rules} with {}: {}, {} of memory{}, {} of disk, about {} with {} ({}), {why}",
            output::count(plan.missing.len(), "layer"),
            if self.share { " together with others" } else { "" },
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

    /// Builds tables up to the layer of `last`, and bound tables with `--bounds`.
    fn tables(&self, plan: &BuildPlan, last: TableKey, backend: Backend) -> failure::Result<Outcome> {
        let TableKey { pits, seeds, .. } = last;
        let directory = &self.common.tables.path;
        let network = match self.bounds {
            Some(_) => Some(bounds::find_network(&self.common, directory)?),
            None => None,
        };
        let maker = network.as_ref().map(|network| BoundMaker::new(network, Cuts::TWO_BITS));
        let bounded = self.bounds.map_or(0, |first| (first..=seeds).map(|seeds| layer_positions(pits, seeds)).sum());

        let progress = Progress::new(plan.positions + bounded);
        let (kept_bounds, made_bounds) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
        let on_event = |event: BuildEvent| match event {
            BuildEvent::Bounds(key) => {
                made_bounds.fetch_add(1, Ordering::Relaxed);
                progress.stage(format!("layer {}, bound table", key.seeds));
            }
            BuildEvent::BoundsKept(key) => {
                progress.skip(layer_positions(key.pits, key.seeds));
                kept_bounds.lock().push(key.seeds);
            }
            BuildEvent::BoundsDamaged(error) => progress.line(&format!("{error}; it is replaced")),
            event => print_event(&progress, &event),
        };
        let mut builder = Builder::new(directory, last).backend(backend).only_last(self.only);
        if let Some((maker, first)) = maker.zip(self.bounds) {
            builder = builder.bounds(maker, first);
        }
        let (report, seconds) = run_build(&progress, |pulse| builder.run(pulse, &on_event))?;
        let kept_bounds = kept_bounds.into_inner();
        if let (Some(first), Some(last)) = (kept_bounds.first(), kept_bounds.last()) {
            let layers = if first == last { first.to_string() } else { format!("{first} to {last}") };
            note!(
                "kept {} of {layers} seeds with other cuts or another evaluation network; `kalah bounds` replaces them",
                output::count(kept_bounds.len(), "bound table"),
            );
        }

        self.print_built(&report, seeds, made_bounds.into_inner(), seconds)?;
        Ok(Outcome::Done)
    }

    /// Prints a summary of a build that took `seconds` and made `bounds` bound tables.
    fn print_built(&self, report: &BuildReport, seeds: usize, bounds: usize, seconds: f64) -> failure::Result<()> {
        let args::BoardFlags { rules, pits } = self.common.board;
        let (directory, positions) = (&self.common.tables.path, report.positions());
        if self.common.json {
            let rules = rules.name();
            let (kept, built) = (report.kept, &report.built[..]);
            output::json(&TablesReport { rules, pits, seeds, kept, built, bounds, positions, seconds })?;
        } else if report.built.is_empty() && bounds > 0 {
            let directory = directory.display();
            let made = output::count(bounds, "bound table");
            line!("{made} made in {seconds:.1} s; all layers to {seeds} seeds are in {directory}")?;
        } else if report.built.is_empty() {
            let directory = directory.display();
            line!("nothing to build: all layers to {seeds} seeds are in {directory}, and are sound")?;
        } else {
            line!(
                "{}{} built in {seconds:.1} s ({}, {}), {} kept, in {}",
                output::count(report.built.len(), "layer"),
                if bounds > 0 { format!(" and {}", output::count(bounds, "bound table")) } else { String::new() },
                output::many(positions, "position"),
                output::rate(positions, seconds),
                report.kept,
                directory.display(),
            )?;
        }
        Ok(())
    }
}

/// Returns the part of a plan's report on the memory of a GPU; empty on the CPU.
pub(crate) fn device_memory(plan: &BuildPlan) -> String {
    match plan.device_memory {
        0 => String::new(),
        bytes => format!(", at least {} of GPU memory", HumanBytes(bytes)),
    }
}

/// Runs a build, and shows its progress. Returns its report, and its time in seconds.
fn run_build<T>(
    progress: &Progress,
    build: impl FnOnce(&Pulse) -> Result<T, BuildError>,
) -> Result<(T, f64), BuildError> {
    let (pulse, start) = (stopped_by_signal(), Instant::now());
    let report = progress.complete(&pulse.positions, || build(&pulse))?;
    Ok((report, start.elapsed().as_secs_f64()))
}

/// Prints an event that every kind of build has.
fn print_event(progress: &Progress, event: &BuildEvent) {
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
        BuildEvent::Damaged(error) => progress.line(&with_advice(*error)),
        _ => {}
    }
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

/// Builds the layers up to that of `last` together with other processes.
fn build_shared(builder: &Builder, last: TableKey, directory: &Path, json: bool) -> failure::Result<Outcome> {
    let TableKey { rules, pits, seeds } = last;
    let (pulse, start) = (stopped_by_signal(), Instant::now());
    // The work of other processes is not counted, so there is no bar.
    let progress = Progress::new(0);
    let report = builder.run(&pulse, &|event| print_shared_event(&progress, directory, &event))?;
    progress.finish();
    let (seconds, positions) = (start.elapsed().as_secs_f64(), report.positions());
    if json {
        let (pairs, joined, rules) = (report.pairs.len(), report.joined, rules.name());
        output::json(&SharedReport { rules, pits, seeds, pairs, joined, positions, seconds })?;
    } else {
        line!(
            "all layers to {seeds} seeds are in {}: {} of frames computed here ({} positions), {} joined, \
             {seconds:.1} s",
            directory.display(),
            output::count(report.pairs.len(), "pair"),
            HumanCount(positions),
            output::count(report.joined, "layer"),
        )?;
    }
    Ok(Outcome::Done)
}

/// Prints an event.
fn print_shared_event(progress: &Progress, directory: &Path, event: &BuildEvent) {
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
        event => print_event(progress, event),
    }
}
