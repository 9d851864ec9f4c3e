//! `kalah plan`.

use std::io;
use std::time::Duration;

use clap::{Args, Subcommand};
use indicatif::{HumanBytes, HumanDuration};
use kalah::build::{BuildPlan, ComputeError};
use kalah::game::{Position, StartPosition};
use kalah::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use kalah::printable::commas;
use kalah::solve::{
    BoardKeys, LayerKind, PlannedLayer, PlannedSearch, SearchMemory, SearchPlan, SolveError, bound_network,
};
use kalah::system::available_disk;
use kalah::table::TableKey;
use serde::Serialize;

use crate::cli::flags::compute::Compute;
use crate::cli::output::build_progress::device_memory;
use crate::cli::{Grid, Outcome, args, bail, examples, failure, line, note, output, usage};

/// Plan a build, or choose the tables for a search
#[derive(Subcommand)]
pub(crate) enum Plan {
    Build(PlanBuild),
    Search(PlanSearch),
}

impl Plan {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        match self {
            Plan::Build(plan) => plan.run(),
            Plan::Search(plan) => plan.run(),
        }
    }
}

/// List the memory, disk space, reads and time of each layer that a build still needs
///
/// Use this to find out whether a large build fits a machine, or to divide it among several. Memory is that of one
/// process, page cache excluded. See docs/building.md and docs/cluster.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Show the needs of a build to 36 seeds", "kalah plan build --seeds 36"),
    ("Print the plan for another program", "kalah plan build --seeds 30 --json"),
]))]
pub(crate) struct PlanBuild {
    /// Plan up to this many seeds in play
    #[arg(long, value_name = "N", value_parser = args::seeds)]
    seeds: usize,
    #[command(flatten)]
    compute: Compute,
    #[command(flatten)]
    common: args::Common,
}

#[derive(Serialize)]
struct PlanBuildReport<'a> {
    rules: &'a str,
    pits: usize,
    seeds: usize,
    /// Threads of each process.
    threads: usize,
    backend: &'a str,
    #[serde(flatten)]
    plan: &'a BuildPlan,
}

impl PlanBuild {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        let args::BoardFlags { rules, pits } = self.common.board;
        let (directory, seeds) = (self.common.tables.path(), self.seeds);
        let (backend, why) = self.compute.choose_for(TableKey { rules, pits, seeds })?;
        let threads = self.common.threads.number();
        let plan = BuildPlan::new(directory, TableKey { rules, pits, seeds }, &backend, threads);
        if !plan.missing.is_empty() {
            backend.require_layer(pits, seeds).map_err(ComputeError::Device)?;
        }
        if self.common.json {
            let (rules, backend, plan) = (rules.name(), backend.name(), &plan);
            output::json(&PlanBuildReport { rules, pits, seeds, threads, backend, plan })?;
            return Ok(Outcome::Done);
        }
        if plan.missing.is_empty() {
            let directory = directory.display();
            line!("nothing is missing: all layers to {seeds} seeds are in {directory}")?;
            return Ok(Outcome::Done);
        }
        print_layers(&plan)?;
        line!(
            "{}, {}, {} of memory{}, {} of disk, about {} with {} ({}, {why}), without the time to read",
            output::count(plan.missing.len(), "layer"),
            output::many(plan.positions, "position"),
            HumanBytes(plan.memory),
            device_memory(&plan),
            HumanBytes(plan.disk),
            HumanDuration(Duration::from_secs_f64(plan.seconds)),
            output::count(threads, "thread"),
            backend.name(),
        )?;
        line!("read: bytes of the layers below, which come from the disk unless the page cache holds them")?;
        Ok(Outcome::Done)
    }
}

/// Prints a row for each layer.
fn print_layers(plan: &BuildPlan) -> io::Result<()> {
    let mut grid = Grid::new(["layer", "positions", "memory", "disk", "read", "seconds"]);
    for layer in &plan.missing {
        grid.row([
            layer.key.seeds.to_string(),
            commas(layer.positions),
            HumanBytes(layer.memory).to_string(),
            HumanBytes(layer.disk).to_string(),
            HumanBytes(layer.read).to_string(),
            format!("{:.2}", layer.seconds),
        ]);
    }
    grid.print()
}

/// Choose the tables with which a search visits the fewest positions
///
/// Use this before a long search. For the given memory and disk it lists which layers to have as exact tables,
/// which as bound tables of 2 bits a position, and which of 1 bit, by a rule of thumb. `kalah solve --build` makes the
/// missing ones. See docs/solving.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Choose tables to solve Kalah(6,6) within 24 GiB", "kalah plan search 6x6 --memory 24GiB"),
    ("Build no layer above 28 seeds", "kalah plan search 6x6 --memory 24GiB --tables-up-to 28"),
]))]
pub(crate) struct PlanSearch {
    /// Position to search, such as 6x6 [default: six seeds in each pit]
    position: Option<Position>,
    /// Plan no layer above this many seeds [default: as memory and disk allow]
    #[arg(long, value_name = "N", value_parser = args::seeds)]
    tables_up_to: Option<usize>,
    /// Memory of the search, such as 24GiB [default: most of the available memory]
    #[arg(long, value_name = "SIZE", value_parser = args::memory)]
    memory: Option<u64>,
    /// Disk space for missing tables, such as 100GiB [default: what is free in the directory of the tables]
    #[arg(long, value_name = "SIZE", value_parser = args::bytes)]
    disk: Option<u64>,
    #[command(flatten)]
    compute: Compute,
    #[command(flatten)]
    common: args::Common,
}

#[derive(Serialize)]
struct PlanSearchReport {
    rules: &'static str,
    position: String,
    memory: u64,
    layers: Vec<PlannedLayer>,
    tables: u64,
    transpositions: u64,
    /// Missing exact layers, all of which are needed to make the bound tables.
    exact_to_build: Vec<usize>,
    disk: u64,
    /// Bytes of it that remain after deleting the exact tables that the search does not read.
    disk_kept: u64,
    /// Bytes of disk that missing tables may take, if they are known.
    disk_free: Option<u64>,
    /// The plan for a larger disk, if this one limits the plan.
    larger_disk: Option<LargerDisk>,
    seconds: f64,
    exact_alone: usize,
    /// Nodes relative to those of a search with exact tables to `exact_alone` seeds.
    nodes: f64,
}

/// The plan for a disk that holds all tables for which there is memory.
#[derive(Serialize)]
struct LargerDisk {
    /// Bytes of disk for its missing tables.
    disk: u64,
    /// Its largest layer.
    seeds: usize,
    /// Nodes relative to those of the plan for this disk.
    nodes: f64,
}

impl PlanSearch {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        let args::BoardFlags { rules, pits } = self.common.board;
        let (backend, _) = self.compute.choose(rules)?;
        let position = self.position.map_or_else(|| StartPosition { pits, seeds: 6 }.position(), Ok)?;
        let (pits, seeds) = (position.pits(), position.seeds());
        if BoardKeys::<u128>::new(pits, seeds as usize).is_none() {
            return Err(SolveError::Board { pits, seeds }.into());
        }
        if pits > MAX_TABLE_PITS {
            return Err(usage(format_args!("tables have at most {MAX_TABLE_PITS} pits a side, not {pits}")));
        }
        let (directory, threads) = (self.common.tables.path(), self.common.threads.number());
        let memory = SearchMemory::new(self.memory, None);
        let disk = self.disk.or_else(|| available_disk(directory));
        let with_bounds = bound_network(directory, directory, rules, pits)?.is_some();
        let search =
            PlannedSearch { rules, position, directory, memory, disk, with_bounds, backend: &backend, threads };
        let most = self.tables_up_to.unwrap_or(MAX_TABLE_SEEDS);
        let Some(largest) = search.plan(most) else {
            bail!(
                "no tables of {} a side fit {} of memory; allow more with --memory",
                output::count(pits, "pit"),
                HumanBytes(memory.total().unwrap_or(0))
            );
        };
        let Some(plan) = search.plan_that_fits(most, |_| true) else {
            bail!("not even the smallest table fits {} of disk", HumanBytes(disk.unwrap_or(0)));
        };
        let report = PlanSearchReport::new(&search, plan, &largest);
        output::answer(self.common.json, &report, || report.print(&search))?;
        if !with_bounds {
            note!("there is no evaluation network for bound tables of this board; `kalah train` makes one");
        }
        Ok(Outcome::Done)
    }
}

impl PlanSearchReport {
    /// Reports `plan` for a search, and how much better the `largest` one for its memory is.
    fn new(search: &PlannedSearch, plan: SearchPlan, largest: &SearchPlan) -> PlanSearchReport {
        PlanSearchReport {
            rules: search.rules.name(),
            position: search.position.to_string(),
            memory: search.memory.total().unwrap_or(0),
            tables: plan.layers.iter().map(|layer| layer.bytes).sum(),
            transpositions: plan.transpositions,
            exact_to_build: plan.build.missing.iter().map(|layer| layer.key.seeds).collect(),
            disk: plan.disk,
            disk_kept: plan.layers.iter().filter(|layer| !layer.exists).map(|layer| layer.bytes).sum(),
            disk_free: search.disk,
            larger_disk: (largest.layers.len() != plan.layers.len()).then(|| LargerDisk {
                disk: largest.disk,
                seeds: largest.layers.len() + 1,
                nodes: largest.nodes / plan.nodes,
            }),
            seconds: plan.seconds,
            exact_alone: plan.exact_alone,
            nodes: plan.nodes / plan.nodes_exact_alone,
            layers: plan.layers,
        }
    }

    fn print(&self, search: &PlannedSearch) -> io::Result<()> {
        line!("{} under {}, {} of memory:", self.position, self.rules, HumanBytes(self.memory))?;
        let mut grid = Grid::new(["layers", "scores", "positions", "bytes", "missing"]);
        for kind in [LayerKind::Exact, LayerKind::TwoBits, LayerKind::OneBit] {
            let layers: Vec<&PlannedLayer> = self.layers.iter().filter(|layer| layer.kind == kind).collect();
            let (Some(first), Some(last)) = (layers.first(), layers.last()) else { continue };
            grid.row([
                format!("{}..{}", first.key.seeds, last.key.seeds),
                kind.name().to_owned(),
                commas(layers.iter().map(|layer| layer.positions).sum()),
                HumanBytes(layers.iter().map(|layer| layer.bytes).sum()).to_string(),
                layers.iter().filter(|layer| !layer.exists).count().to_string(),
            ]);
        }
        grid.print()?;
        line!("tables {}, transposition table {}", HumanBytes(self.tables), HumanBytes(self.transpositions))?;
        line!(
            "about {:.2} times the nodes of a search with exact tables alone, which fit to {} seeds",
            self.nodes,
            self.exact_alone
        )?;
        if self.disk == 0 {
            line!("all of them exist")?;
        } else {
            line!(
                "building them needs {} of disk{}, of which the search needs {}, and takes about {} ({}, {})",
                HumanBytes(self.disk),
                self.disk_free.map_or(String::new(), |free| format!(" ({} free)", HumanBytes(free))),
                HumanBytes(self.disk_kept),
                HumanDuration(Duration::from_secs_f64(self.seconds)),
                output::count(search.threads, "thread"),
                search.backend.name(),
            )?;
        }
        if let Some(LargerDisk { disk, seeds, nodes }) = self.larger_disk {
            line!(
                "with {} of free disk instead of {}: tables to {seeds} seeds, {nodes:.2} times these nodes",
                HumanBytes(disk),
                HumanBytes(self.disk_free.unwrap_or(0)),
            )?;
        }
        Ok(())
    }
}
