use std::path::PathBuf;

use clap::Args;
use indicatif::HumanBytes;
use kalah::build::{BuildError, Measurement, measure};
use kalah::table::Tables;
use serde::Serialize;

use crate::cli::flags::compute::Compute;
use crate::cli::{Outcome, Progress, args, examples, failure, line, message, note, output, stopped_by_signal};

/// Measure how fast a layer is built, and where the time goes
///
/// Use this to compare machines, or the CPU with a GPU. All lower layers must exist. The layer is built twice in a
/// temporary directory beside the tables, and the second build is measured. On a GPU, builds that write nothing follow,
/// and one that measures every stage. The temporary directory is removed.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Measure the layer of 20 seeds", "kalah bench --seeds 20"),
    ("Write it to a directory in memory", "kalah bench --seeds 20 --to /dev/shm"),
    ("Measure the CPU with one thread", "kalah bench --seeds 18 --backend cpu --threads 1"),
]))]
pub(crate) struct Bench {
    /// Build the layer with this many seeds
    #[arg(long, value_parser = args::seeds)]
    seeds: usize,
    /// Write the layer to a temporary directory in DIR, such as one in memory, instead of beside the tables
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    #[command(flatten)]
    compute: Compute,
    #[command(flatten)]
    common: args::Common,
}

#[derive(Serialize)]
struct BenchReport<'a> {
    rules: &'a str,
    pits: usize,
    seeds: usize,
    backend: &'a str,
    threads: usize,
    positions_per_second: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel_positions_per_second: Option<f64>,
    /// True if the table in the directory is the same; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    same_as_table: Option<bool>,
    #[serde(flatten)]
    measured: &'a Measurement,
}

impl Bench {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        self.common.threads.start()?;
        let args::BoardFlags { rules, pits } = self.common.board;
        let directory = self.common.tables.path();
        let to = self.to.as_deref().unwrap_or(directory);
        let tables = Tables::open(directory, rules, pits, self.seeds)?;
        if self.seeds > 2 {
            tables.require(self.seeds - 1)?;
        }
        let (backend, why) = self.compute.choose(rules)?;
        note!("building the layer of {} seeds {why}", self.seeds);
        let pulse = stopped_by_signal();
        let positions = kalah::index::layer_positions(pits, self.seeds);
        let times = if matches!(backend, kalah::build::Backend::Gpu(_)) { 3 } else { 2 };
        let progress = Progress::new(times * positions).at(format!("layer {}, {times} times", self.seeds));
        let measured = progress.complete(&pulse.positions, || measure(&backend, &tables, self.seeds, to, &pulse));
        if let Err(BuildError::Stopped(_)) = measured {
            message!("stopped");
            return Ok(Outcome::Failed);
        }
        let measured = measured?;

        let kernel_seconds = measured.gpu.as_ref().and_then(|gpu| gpu.kernel_seconds());
        let same = tables.layer(self.seeds).map(|table| table.header().digest == measured.digest);
        let report = BenchReport {
            rules: rules.name(),
            pits,
            seeds: self.seeds,
            backend: backend.name(),
            threads: rayon::current_num_threads(),
            positions_per_second: (positions as f64 / measured.seconds).round(),
            kernel_seconds,
            kernel_positions_per_second: kernel_seconds.map(|seconds| (positions as f64 / seconds).round()),
            same_as_table: same,
            measured: &measured,
        };
        output::answer(self.common.json, &report, || print(&report))?;
        if same == Some(false) {
            message!("WRONG: the table in the directory differs from the one that was built");
            return Ok(Outcome::Wrong);
        }
        Ok(Outcome::Done)
    }
}

fn print(report: &BenchReport) -> std::io::Result<()> {
    let measured = report.measured;
    line!(
        "layer {} on {}: {} in {:.3} s, {}; {} written meanwhile in {:.3} s",
        report.seeds,
        report.backend,
        output::many(measured.positions, "position"),
        measured.seconds,
        output::rate(measured.positions, measured.seconds),
        HumanBytes(measured.file_bytes),
        measured.write_seconds,
    )?;
    let Some(seconds) = report.kernel_seconds else { return Ok(()) };
    line!("kernels: {seconds:.3} s, {}; --json has each stage", output::rate(measured.positions, seconds))
}
