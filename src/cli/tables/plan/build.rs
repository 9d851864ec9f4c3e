//! `kalah plan build`: the needs of each missing layer.

use std::time::Duration;

use clap::Args;
use indicatif::{HumanBytes, HumanCount, HumanDuration};
use kalah::build::{BuildPlan, LayerPlan};
use kalah::table::{Table, TableError, TableKey};
use serde::Serialize;

use crate::cli::flags::args;
use crate::cli::flags::compute::Compute;
use crate::cli::help::examples;
use crate::cli::output;
use crate::cli::process::outcome::Outcome;
use crate::cli::tables::build::device_memory;

/// List the memory, disk space, reads and time of each layer that a build still needs
///
/// Use this to find out whether a large build fits a machine, or to divide it among several. Memory is that of one
/// process, page cache excluded. See docs/building.md and docs/cluster.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Show the needs of a build to 36 seeds", "kalah plan build --seeds 36"),
    ("Print the plan for another program", "kalah plan build --seeds 30 --json"),
]))]
pub struct PlanBuild {
    /// Plan up to this many seeds in play
    #[arg(long, value_name = "N", value_parser = args::seeds)]
    seeds: usize,
    #[command(flatten)]
    compute: Compute,
    #[command(flatten)]
    common: args::Common,
}

#[derive(Serialize)]
struct Layer {
    seeds: usize,
    positions: u64,
    memory: u64,
    disk: u64,
    read: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct PlanBuildReport<'a> {
    rules: &'a str,
    pits: usize,
    seeds: usize,
    /// Threads of each process.
    threads: usize,
    backend: &'a str,
    layers: Vec<Layer>,
    positions: u64,
    memory: u64,
    gpu_memory: u64,
    disk: u64,
    seconds: f64,
}

impl PlanBuild {
    pub fn run(self) -> anyhow::Result<Outcome> {
        let args::BoardFlags { rules, pits } = self.common.board;
        let (directory, seeds) = (&self.common.tables.path, self.seeds);
        let (backend, why) = self.compute.choose(rules)?;
        let threads = self.common.threads.number();
        // A file with the name of a table must be that table, or the build would stop there.
        for seeds in 2..=seeds {
            match Table::open_key(directory, TableKey { rules, pits, seeds }) {
                Ok(_) | Err(TableError::Missing { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let plan = BuildPlan::new(directory, TableKey { rules, pits, seeds }, &backend, threads);
        if self.common.json {
            let layer = |&LayerPlan { key, positions, memory, disk, read, seconds, .. }: &LayerPlan| Layer {
                seeds: key.seeds,
                positions,
                memory,
                disk,
                read,
                seconds,
            };
            let (rules, backend, layers) = (rules.name(), backend.name(), plan.missing.iter().map(layer).collect());
            let BuildPlan { positions, memory, device_memory: gpu_memory, disk, seconds: time, .. } = plan;
            #[rustfmt::skip]
            output::json(&PlanBuildReport {
                rules, pits, seeds, threads, backend, layers, positions, memory, gpu_memory, disk, seconds: time,
            })?;
            return Ok(Outcome::Done);
        }
        if plan.missing.is_empty() {
            let directory = directory.display();
            output::line(format_args!("nothing is missing: all layers to {seeds} seeds are in {directory}"))?;
            return Ok(Outcome::Done);
        }
        print_layers(&plan)?;
        output::line(format_args!(
            "{}, {}, {} of memory{}, {} of disk, about {} with {} ({}, {why}), without the time to read",
            output::count(plan.missing.len(), "layer"),
            output::many(plan.positions, "position"),
            HumanBytes(plan.memory),
            device_memory(&plan),
            HumanBytes(plan.disk),
            HumanDuration(Duration::from_secs_f64(plan.seconds)),
            output::count(threads, "thread"),
            backend.name(),
        ))?;
        output::line("read: bytes of the layers below, which come from the disk unless the page cache holds them")?;
        Ok(Outcome::Done)
    }
}

/// Prints a row for each layer.
fn print_layers(plan: &BuildPlan) -> anyhow::Result<()> {
    output::line("layer        positions      memory        disk        read     seconds")?;
    for layer in &plan.missing {
        output::line(format_args!(
            "{:>5}  {:>15}  {:>10}  {:>10}  {:>10}  {:>10.2}",
            layer.key.seeds,
            HumanCount(layer.positions).to_string(),
            HumanBytes(layer.memory).to_string(),
            HumanBytes(layer.disk).to_string(),
            HumanBytes(layer.read).to_string(),
            layer.seconds,
        ))?;
    }
    Ok(())
}
