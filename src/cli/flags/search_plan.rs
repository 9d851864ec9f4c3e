//! `kalah plan search`: which tables to have for a search with so much memory.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use indicatif::{HumanBytes, HumanCount, HumanDuration};
use kalah::build::{Backend, Plan};
use kalah::evaluation::{Network, PhasedNetwork};
use kalah::game::{Position, Rules};
use kalah::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS, layer_positions};
use kalah::solve::{LayerKind, SolverOptions, TablePlan};
use kalah::system::available_disk;
use kalah::table::{BoundTable, TableKey};
use serde::Serialize;

use crate::cli::errors::suggestion;
use crate::cli::flags::compute::Compute;
use crate::cli::flags::{args, positions};
use crate::cli::help::examples;
use crate::cli::output;
use crate::cli::process::outcome::{Outcome, usage};

/// Positions a second and thread for which bound tables are made: half of what was measured with exact tables in the page cache
/// (docs/measurements.md), since those of large layers are read from the disk.
const BOUNDS_RATE: f64 = 50e6;

/// List which tables to have for a search
///
/// Lists which layers to have as exact tables, which as bound tables of 2 bits a position, and which of 1 bit, so that a
/// search with that much memory visits the fewest positions, by a rule of thumb. See docs/solving.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Which tables to have for a search", "kalah plan search 6x6 --memory 24GiB"),
]))]
pub struct PlanSearch {
    /// The position to search, such as 6x6 [default: six seeds in each pit]
    position: Option<OsString>,
    /// The largest layer that may be made [default: as the memory allows]
    #[arg(long, value_name = "N", value_parser = args::seeds)]
    seeds: Option<usize>,
    /// Memory of the search, such as 24GiB [default: most of what is available]
    #[arg(long, value_name = "SIZE", value_parser = args::bytes)]
    memory: Option<u64>,
    #[command(flatten)]
    compute: Compute,
    #[command(flatten)]
    common: args::Common,
}

impl PlanSearch {
    pub fn run(self) -> anyhow::Result<Outcome> {
        let args::BoardFlags { rules, pits } = self.common.board;
        let (backend, _) = self.compute.choose(rules)?;
        let start = || OsString::from(format!("{pits}x6"));
        let position = positions::one(&self.position.clone().unwrap_or_else(start))?;
        let (memory, most, directory) = (self.memory, self.seeds, &self.common.tables.path);
        let threads = self.common.threads.number();
        SearchPlan { rules, position, memory, most, directory, backend: &backend, threads }.run(self.common.json)
    }
}

/// What a search plan is for.
pub struct SearchPlan<'a> {
    pub rules: Rules,
    pub position: Position,
    /// `None`: what is available.
    pub memory: Option<u64>,
    /// The largest layer that may be made.
    pub most: Option<usize>,
    pub directory: &'a Path,
    pub backend: &'a Backend,
    pub threads: usize,
}

/// What is missing of the tables of a plan, and what it takes to make them.
pub struct MissingTables {
    /// Seeds of the largest exact layer that is needed: that of the largest bound table that is missing, if there is one.
    pub exact_up_to: usize,
    /// What the build of the missing exact layers up to there needs.
    pub exact: Plan,
    /// The bound tables, the fewest seeds first.
    pub bounds: Vec<(TableKey, LayerKind)>,
    /// Bytes of disk for all of them.
    pub disk: u64,
}

impl MissingTables {
    pub fn new(plan: &TablePlan, rules: Rules, directory: &Path, backend: &Backend, threads: usize) -> MissingTables {
        let key = |seeds| TableKey { rules, pits: plan.pits, seeds };
        let layers = plan.layers().filter(|&(_, kind)| kind != LayerKind::Exact);
        let bounds: Vec<(TableKey, LayerKind)> = layers
            .map(|(seeds, kind)| (key(seeds), kind))
            .filter(|(key, _)| !key.bounds_path(directory).exists())
            .collect();
        let exact_up_to = bounds.last().map_or(plan.exact, |(key, _)| key.seeds);
        let exact = Plan::new(directory, key(exact_up_to), backend, threads);
        let bytes = bounds.iter().map(|&(key, kind)| kind.bytes(layer_positions(key.pits, key.seeds)));
        let disk = exact.disk + bytes.sum::<u64>();
        MissingTables { exact_up_to, exact, bounds, disk }
    }
}

#[derive(Serialize)]
struct Layer {
    seeds: usize,
    /// exact, 2 bits or 1 bit.
    kind: &'static str,
    positions: u64,
    bytes: u64,
    exists: bool,
}

#[derive(Serialize)]
struct PlanSearchReport {
    rules: &'static str,
    position: String,
    memory: u64,
    layers: Vec<Layer>,
    tables: u64,
    transpositions: u64,
    /// The exact layers that are missing, all of which are needed to make the bound tables.
    exact_to_build: Vec<usize>,
    disk: u64,
    /// What of it stays when the exact tables are deleted that the search does not read.
    disk_kept: u64,
    seconds: f64,
    exact_alone: usize,
    /// Relative to those with exact tables to `exact_alone` seeds.
    nodes: f64,
}

impl SearchPlan<'_> {
    pub fn run(&self, json: bool) -> anyhow::Result<Outcome> {
        let (pits, seeds) = (self.position.pits(), self.position.seeds() as usize);
        let memory = self.memory.or_else(SolverOptions::default_memory).unwrap_or(0);
        let Some(plan) = TablePlan::new(pits, seeds, memory, None, self.most.unwrap_or(MAX_TABLE_SEEDS)) else {
            if pits > MAX_TABLE_PITS {
                return Err(usage(format_args!("tables have at most {MAX_TABLE_PITS} pits a side, not {pits}")));
            }
            bail!("no tables of {pits} pits a side fit {} of memory; allow more with --memory", HumanBytes(memory));
        };
        let report = self.report(&plan, memory);
        if json {
            output::json(&report)?;
            return Ok(Outcome::Done);
        }
        self.print(&plan, &report)?;
        Ok(Outcome::Done)
    }

    fn report(&self, plan: &TablePlan, memory: u64) -> PlanSearchReport {
        let (rules, pits) = (self.rules, plan.pits);
        let key = |seeds| TableKey { rules, pits, seeds };
        let layer = |(seeds, kind): (usize, LayerKind)| {
            let path = match kind {
                LayerKind::Exact => key(seeds).path(self.directory),
                LayerKind::TwoBits | LayerKind::OneBit => key(seeds).bounds_path(self.directory),
            };
            let positions = layer_positions(pits, seeds);
            Layer { seeds, kind: kind.name(), positions, bytes: kind.bytes(positions), exists: path.exists() }
        };
        let layers: Vec<Layer> = plan.layers().map(layer).collect();
        let missing = MissingTables::new(plan, rules, self.directory, self.backend, self.threads);
        let MissingTables { exact, bounds, disk, .. } = missing;
        let bound_positions: u64 = bounds.iter().map(|(key, _)| layer_positions(pits, key.seeds)).sum();
        PlanSearchReport {
            rules: rules.name(),
            position: self.position.to_string(),
            memory,
            tables: plan.tables,
            transpositions: plan.transpositions,
            exact_to_build: exact.missing.iter().map(|key| key.seeds).collect(),
            disk,
            disk_kept: layers.iter().filter(|layer| !layer.exists).map(|layer| layer.bytes).sum(),
            seconds: exact.seconds + bound_positions as f64 / (BOUNDS_RATE * self.threads as f64),
            exact_alone: plan.exact_alone,
            nodes: plan.nodes,
            layers,
        }
    }

    fn print(&self, plan: &TablePlan, report: &PlanSearchReport) -> anyhow::Result<()> {
        output::line(format_args!(
            "{} by {}, {} of memory:",
            report.position,
            report.rules,
            HumanBytes(report.memory)
        ))?;
        output::line("layers  scores         positions       bytes  missing")?;
        for kind in [LayerKind::Exact, LayerKind::TwoBits, LayerKind::OneBit] {
            let layers: Vec<&Layer> = report.layers.iter().filter(|layer| layer.kind == kind.name()).collect();
            let (Some(first), Some(last)) = (layers.first(), layers.last()) else { continue };
            output::line(format_args!(
                "{:<6}  {:<6}  {:>16}  {:>10}  {:>7}",
                format!("{}..{}", first.seeds, last.seeds),
                kind.name(),
                HumanCount(layers.iter().map(|layer| layer.positions).sum()).to_string(),
                HumanBytes(layers.iter().map(|layer| layer.bytes).sum()).to_string(),
                layers.iter().filter(|layer| !layer.exists).count(),
            ))?;
        }
        output::line(format_args!(
            "tables {}, transposition table {}",
            HumanBytes(report.tables),
            HumanBytes(report.transpositions)
        ))?;
        output::line(format_args!(
            "about {:.2} times the nodes with exact tables to {} seeds, which fit the same memory",
            report.nodes, report.exact_alone
        ))?;
        if report.disk > 0 {
            output::line(format_args!(
                "to make them: {} of disk, of which {} must stay; about {} ({}, {})",
                HumanBytes(report.disk),
                HumanBytes(report.disk_kept),
                HumanDuration(Duration::from_secs_f64(report.seconds)),
                output::count(self.threads, "thread"),
                self.backend.name(),
            ))?;
            self.print_commands(plan, report)?;
            if let Some(free) = available_disk(self.directory).filter(|&free| free < report.disk) {
                output::note(format_args!(
                    "{} has {} free; --seeds {} plans with fewer layers",
                    self.directory.display(),
                    HumanBytes(free),
                    plan.one_bit - 1
                ));
            }
        } else {
            output::line("all of them are there")?;
        }
        Ok(())
    }

    /// The commands that make what is missing.
    fn print_commands(&self, plan: &TablePlan, report: &PlanSearchReport) -> anyhow::Result<()> {
        let flags = suggestion::table_flags(self.directory, self.rules, plan.pits);
        if let Some(seeds) = report.exact_to_build.last() {
            output::line(format_args!("  kalah build --seeds {seeds}{flags}"))?;
        }
        let no_bounds_missing = report.layers.iter().all(|layer| layer.exists || layer.kind == LayerKind::Exact.name());
        if !no_bounds_missing && network(self.directory, self.rules, plan.pits)?.is_none() {
            output::line(format_args!("  kalah train{flags}"))?;
        }
        for (kind, bits) in [(LayerKind::TwoBits, 2), (LayerKind::OneBit, 1)] {
            let mut missing = report.layers.iter().filter(|layer| layer.kind == kind.name() && !layer.exists);
            if let Some(first) = missing.next() {
                let last = missing.next_back().unwrap_or(first);
                let range = format!("{}..{}", first.seeds, last.seeds);
                output::line(format_args!("  kalah bounds --seeds {range} --bits {bits}{flags}"))?;
            }
        }
        Ok(())
    }
}

/// The network for more bound tables in `directory`: that of those which are there, since a search uses bound tables of one
/// network only; without any, that of the directory or the shipped one. `None` if there is none.
pub fn network(directory: &Path, rules: Rules, pits: usize) -> anyhow::Result<Option<Network>> {
    // A table that cannot be read is told of by the search.
    let read = |seeds| BoundTable::open_key(directory, TableKey { rules, pits, seeds }).ok().flatten();
    match (2..=MAX_TABLE_SEEDS).find_map(read) {
        Some(bounds) => Ok(Some(bounds.network().clone())),
        None => Ok(PhasedNetwork::find(directory, rules, pits)?.map(|found| found.first().clone())),
    }
}
