//! `kalah plan build`: the remaining work of a build, pair by pair.

use std::time::Duration;

use clap::Args;
use indicatif::{HumanBytes, HumanCount, HumanDuration};
use kalah::build::{PairWork, Work};
use kalah::table::{Table, TableError, TableKey};
use serde::Serialize;

use crate::cli::errors::suggestion;
use crate::cli::flags::args;
use crate::cli::flags::compute::Compute;
use crate::cli::help::examples;
use crate::cli::output;
use crate::cli::process::outcome::Outcome;
use crate::cli::tables::plan::UpTo;

/// Estimate the memory, disk space and time that a build still needs
///
/// Use this before a long build, or to spread one over a cluster. Each row is a pair of frames that one `kalah build
/// --frame` computes. A pair needs all lower layers but nothing of its own, so all pairs of a layer can be computed
/// at the same time. Rows are in the order of layers, the largest pair of a layer first. See docs/cluster.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Print the remaining work as commands for a batch system", "kalah plan build --seeds 30 --commands"),
    ("Print the plan for another program", "kalah plan build --seeds 30 --json"),
]))]
pub struct PlanBuild {
    #[command(flatten)]
    up_to: UpTo,
    /// Print a `kalah build --frame` command for each pair instead, with a comment before each layer
    #[arg(long, conflicts_with = "json")]
    commands: bool,
    #[command(flatten)]
    compute: Compute,
    #[command(flatten)]
    common: args::Common,
}

#[derive(Serialize)]
struct Pair {
    seeds: usize,
    /// Seeds in the two rows, fewer first.
    frame: [usize; 2],
    positions: u64,
    bytes: u64,
    /// Bytes of the tables below, which each machine checks against their checksums once.
    below: u64,
    /// Layers that must be finished before.
    needs: Vec<usize>,
    memory: u64,
    seconds: f64,
    command: String,
}

#[derive(Serialize)]
struct PlanBuildReport<'a> {
    rules: &'a str,
    pits: usize,
    seeds: usize,
    /// Threads of each process.
    threads: usize,
    backend: &'a str,
    layers: usize,
    pairs: Vec<Pair>,
    positions: u64,
    disk: u64,
    memory: u64,
    read: u64,
    read_by_pairs: u64,
    seconds: f64,
    critical_seconds: f64,
}

impl PlanBuild {
    pub fn run(self) -> anyhow::Result<Outcome> {
        let args::BoardFlags { rules, pits } = self.common.board;
        let (directory, seeds) = (&self.common.tables.path, self.up_to.seeds);
        let (backend, why) = self.compute.choose(rules)?;
        let threads = self.common.threads.number();
        // A file with the name of a table must be that table, or the build would stop there.
        for seeds in 2..=seeds {
            match Table::open_key(directory, TableKey { rules, pits, seeds }) {
                Ok(_) | Err(TableError::Missing { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let work = Work::new(directory, TableKey { rules, pits, seeds }, &backend, threads)?;
        if self.commands {
            return self.print_commands(&work);
        }
        if self.common.json {
            let pairs = work.pairs.iter().map(|pair| self.pair(pair)).collect();
            let (rules, backend) = (rules.name(), backend.name());
            let Work { layers, positions, disk, memory, read, read_by_pairs, seconds, critical_seconds, .. } = work;
            #[rustfmt::skip]
            output::json(&PlanBuildReport {
                rules, pits, seeds, threads, backend, layers, pairs, positions, disk, memory, read, read_by_pairs,
                seconds, critical_seconds,
            })?;
            return Ok(Outcome::Done);
        }
        if work.pairs.is_empty() {
            output::line(format_args!(
                "nothing is missing: all layers to {seeds} seeds are in {}",
                directory.display()
            ))?;
            return Ok(Outcome::Done);
        }
        output::line("layer  frames       positions       bytes  needs               memory     seconds")?;
        for work in &work.pairs {
            output::line(format_args!(
                "{:>5}  {:<6} {:>15}  {:>10}  {:<13}  {:>11}  {:>10}",
                work.pair.layer.seeds,
                format!("{}|{}", work.pair.small, work.pair.large()),
                HumanCount(work.positions).to_string(),
                HumanBytes(work.bytes).to_string(),
                needs(work),
                HumanBytes(work.memory).to_string(),
                format!("{:.2}", work.seconds),
            ))?;
        }
        let time = |seconds| HumanDuration(Duration::from_secs_f64(seconds));
        output::line(format_args!(
            "{}, {} of frames, {} positions, {} of disk, {} of memory a process",
            output::count(work.layers, "layer"),
            output::count(work.pairs.len(), "pair"),
            HumanCount(work.positions),
            HumanBytes(work.disk),
            HumanBytes(work.memory),
        ))?;
        output::line(format_args!(
            "about {} with one process of {} ({}, {why}), or {} with a process for each pair of a layer; to \
             this add the time to read tables:",
            time(work.seconds),
            output::count(threads, "thread"),
            backend.name(),
            time(work.critical_seconds),
        ))?;
        output::line(format_args!(
            "each machine reads {}; if every pair has its own machine, all of them together read {}",
            HumanBytes(work.read),
            HumanBytes(work.read_by_pairs),
        ))?;
        Ok(Outcome::Done)
    }

    fn pair(&self, work: &PairWork) -> Pair {
        let &PairWork { pair, positions, bytes, memory, below, seconds, .. } = work;
        let (frame, needs) = ([pair.small, pair.large()], pair.dependencies().collect());
        Pair {
            seeds: pair.layer.seeds,
            frame,
            positions,
            bytes,
            below,
            needs,
            memory,
            seconds,
            command: self.command(work),
        }
    }

    /// Returns the command that computes a pair.
    fn command(&self, work: &PairWork) -> String {
        let args::BoardFlags { rules, pits } = self.common.board;
        let mut command = format!("kalah build --frame {},{}", work.pair.layer.seeds, work.pair.small);
        command += &suggestion::table_flags(&self.common.tables.path, rules, pits);
        command + &self.compute.flags() + &self.common.threads.flag()
    }

    fn print_commands(&self, work: &Work) -> anyhow::Result<Outcome> {
        let mut layer = 0;
        for pair in &work.pairs {
            let seeds = pair.pair.layer.seeds;
            if seeds != layer {
                output::line(format_args!("# layer {seeds}"))?;
                layer = seeds;
            }
            output::line(self.command(pair))?;
        }
        Ok(Outcome::Done)
    }
}

/// Names the layers that must be finished before a pair.
fn needs(work: &PairWork) -> String {
    match work.pair.layer.seeds {
        2 => "nothing".to_owned(),
        3 => "layer 2".to_owned(),
        seeds => format!("layers 2..{}", seeds - 1),
    }
}
