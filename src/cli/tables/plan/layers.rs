//! `kalah plan layers`: memory, reads and writes of each layer.

use clap::Args;
use indicatif::{HumanBytes, HumanCount};
use kalah::build::{LayerPlan, layer_plans};
use kalah::table::TableKey;
use kalah::table::archive::archive_path;
use serde::Serialize;

use crate::cli::flags::args;
use crate::cli::help::examples;
use crate::cli::output;
use crate::cli::process::outcome::Outcome;
use crate::cli::tables::build::packed;
use crate::cli::tables::plan::UpTo;

#[derive(Serialize)]
struct PlanLayersReport<'a> {
    rules: &'a str,
    pits: usize,
    seeds: usize,
    threads: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    packed_from: Option<usize>,
    /// Total bytes, page cache included.
    memory: u64,
    layers: &'a [LayerPlan],
}

/// List the memory, reads and writes that each layer of a build needs
///
/// Use this to find out whether a large build fits a machine. The figures are those of a build on the CPU. See
/// docs/building.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Show the needs of a build to 36 seeds", "kalah plan layers --seeds 36"),
    ("Show those of a build into archives from 32 seeds up", "kalah plan layers --seeds 36 --packed 32 --memory 24GiB"),
]))]
pub struct PlanLayers {
    #[command(flatten)]
    up_to: UpTo,
    /// Keep the layers from this many seeds up as archives, as `kalah build --packed` does
    #[arg(long, value_name = "N", value_parser = args::seeds)]
    packed: Option<usize>,
    /// Memory of the machine, such as 24GiB [default: most of the available memory]
    #[arg(long, value_name = "SIZE", value_parser = args::memory)]
    memory: Option<u64>,
    #[command(flatten)]
    common: args::Common,
}

impl PlanLayers {
    pub fn run(self) -> anyhow::Result<Outcome> {
        let PlanLayers { common, up_to: UpTo { seeds }, packed, memory } = self;
        let args::BoardFlags { rules, pits } = common.board;
        let (directory, threads) = (&common.tables.path, common.threads.number());
        let is_archived = |key: TableKey| packed.is_some_and(|first| key.seeds >= first);
        let finished = |key: TableKey| match is_archived(key) {
            true => archive_path(directory, key).exists(),
            false => key.path(directory).exists(),
        };
        let allowed = memory.unwrap_or_else(packed::usual_memory);
        let last = TableKey { rules, pits, seeds };
        let plans = layer_plans(last, packed, (allowed, threads), finished);
        if common.json {
            let (rules, memory, layers) = (rules.name(), allowed, &plans[..]);
            output::json(&PlanLayersReport { rules, pits, seeds, threads, packed_from: packed, memory, layers })?;
            return Ok(Outcome::Done);
        }
        if plans.is_empty() {
            let directory = directory.display();
            output::line(format_args!("nothing is missing: all layers to {seeds} seeds are in {directory}"))?;
            return Ok(Outcome::Done);
        }
        print(&plans, packed, allowed)?;
        if packed.is_some() {
            let (frames, positions) = plans.iter().fold((0, 0), |(frames, positions), plan| {
                (frames + plan.decompressed, positions + plan.decompressed_positions)
            });
            output::line(format_args!(
                "with {} of memory, unpacked from archives: {} of {}",
                HumanBytes(allowed),
                output::count(frames, "frame"),
                output::many(positions, "position"),
            ))?;
        }
        Ok(Outcome::Done)
    }
}

/// Prints a row for each layer, then the meaning of the columns.
fn print(plans: &[LayerPlan], packed: Option<usize>, memory: u64) -> anyhow::Result<()> {
    output::line("layer       positions      memory    one step   read once  read by step        read     written")?;
    for plan in plans {
        output::line(format_args!(
            "{:>5}  {:>14}  {:>10}  {:>10}  {:>10}  {:>12}  {:>10}  {:>10}",
            plan.key.seeds,
            HumanCount(plan.positions).to_string(),
            HumanBytes(plan.memory).to_string(),
            HumanBytes(plan.step_bytes).to_string(),
            HumanBytes(plan.read_once).to_string(),
            HumanBytes(plan.read_by_step).to_string(),
            format!("{}{}", HumanBytes(plan.read), if plan.may_read_more { "+" } else { "" }),
            HumanBytes(plan.table + plan.archive).to_string(),
        ))?;
    }
    output::line("memory: the program itself, page cache excluded")?;
    output::line("one step: bytes of lower tables that one frame needs; reading is quick if they fit the page cache")?;
    output::line("read once: bytes of lower tables that the layer needs, read if the page cache holds all of them")?;
    output::line("read by step: bytes read if nothing stays in the page cache from one frame to the next")?;
    output::line(format_args!(
        "read: bytes read from the disk with {} of memory; what the build leaves of it is the page cache",
        HumanBytes(memory)
    ))?;
    if plans.iter().any(|plan| plan.may_read_more) {
        output::line("  +: much more may be read, since one step does not fit the page cache")?;
    }
    if let Some(first) = packed {
        output::line(format_args!(
            "layers from {first} seeds up: memory includes the unpacked frames of one step; archives are written"
        ))?;
    }
    Ok(())
}
