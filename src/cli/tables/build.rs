//! `kalah build`.

use std::time::Duration;

use clap::Args;
use kalah::build::{BuildEvent, BuildPlan, BuildReport, Builder};
use kalah::printable::commas;
use kalah::table::TableKey;

use crate::cli::flags::compute::Compute;
use crate::cli::output::build_progress::{announce, print_event};
use crate::cli::{Outcome, Progress, args, examples, failure, output, return_freed_memory, stopped_by_signal};

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
    /// Share the build with all processes that run this command in the same directory, on any number of machines
    #[arg(long)]
    share: bool,
    /// With --share: treat another process as dead after this time without a sign of life
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = args::patience)]
    patience: Duration,
    #[command(flatten)]
    compute: Compute,
    #[command(flatten)]
    common: args::Common,
    /// Limit the memory of the build, page cache excluded, such as 4GiB [default: the available memory]
    #[arg(long, value_name = "SIZE", value_parser = args::memory)]
    memory: Option<u64>,
}

impl Build {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        return_freed_memory();
        self.common.threads.start()?;
        let args::BoardFlags { rules, pits } = self.common.board;
        let directory = self.common.tables.path();
        let last = TableKey { rules, pits, seeds: self.seeds };
        let (backend, why) = self.compute.choose_for(last)?;
        let plan = BuildPlan::new(directory, last, &backend, rayon::current_num_threads());
        announce(&plan, &backend, &why, self.share);
        plan.check(directory, self.memory)?;
        // The work of other processes is not counted, so a shared build has no bar.
        let progress = Progress::new(if self.share { 0 } else { plan.positions });
        let on_event = |event: BuildEvent| print_event(&progress, &event);
        let mut builder = Builder::new(directory, last).backend(backend);
        if self.share {
            builder = builder.shared(self.patience);
        }
        let pulse = stopped_by_signal();
        let build = || builder.run(&pulse, &on_event);
        let report = if self.share { build() } else { progress.complete(&pulse.positions, build) }?;
        output::answer(self.common.json, &report, || output::line(self.text(&report)))?;
        Ok(Outcome::Done)
    }

    fn text(&self, report: &BuildReport) -> String {
        let &BuildReport { last, kept, ref built, ref pairs, joined, positions, seconds, .. } = report;
        let (seeds, directory) = (last.seeds, self.common.tables.path().display());
        if self.share {
            let (pairs, layers) = (output::count(pairs.len(), "pair"), output::count(joined, "layer"));
            let positions = commas(positions);
            return format!(
                "all layers to {seeds} seeds are in {directory}: {pairs} of frames computed here ({positions} \
                 positions), {layers} joined, {seconds:.1} s"
            );
        }
        match built.len() {
            0 => format!("nothing to build: all layers to {seeds} seeds are in {directory}, and are sound"),
            layers => format!(
                "{} built in {seconds:.1} s ({}, {}), {kept} kept, in {directory}",
                output::count(layers, "layer"),
                output::many(positions, "position"),
                output::rate(positions, seconds),
            ),
        }
    }
}
