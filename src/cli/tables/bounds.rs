use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use indicatif::HumanBytes;
use kalah::build::PlanError;
use kalah::evaluation::{Network, PhasedNetwork, SEED};
use kalah::index::{MAX_TABLE_SEEDS, layer_positions};
use kalah::solve::bound_network;
use kalah::system::available_disk;
use kalah::table::{BoundMaker, BoundTable, Cuts, DirectoryLock, Table, TableKey, check_in_parallel};
use serde::Serialize;

use crate::cli::tables::info::BoundEntry;
use crate::cli::{
    Outcome, Progress, Range, Stoppable, args, bail, examples, failed, failure, line, output, stopped_by_signal,
};

/// Make bound tables, a half or a quarter as large, for solving
///
/// Use these when exact tables do not fit the memory of a search. A bound table states in which interval around its
/// evaluation each position's score lies. You may delete the exact tables afterwards: a search uses exact layers up
/// to the first gap, and bound tables above. Existing bound tables of the same tables, network and cuts are checked
/// and kept; others are replaced. Run the same command again after an interruption (Ctrl-C): it continues after the
/// last finished layer. See docs/bounds.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Make tables of two bits a position, from 15 seeds up", "kalah bounds --seeds 15..28"),
    ("Store one bit: true if the score reaches the evaluation", "kalah bounds --seeds 29..30 --bits 1"),
]))]
pub(crate) struct Bounds {
    /// Layers to convert: a number of seeds in play, or a range such as 15..28
    #[arg(long, value_name = "A..B", value_parser = args::range::<2, { MAX_TABLE_SEEDS as u32 }>)]
    seeds: Range,
    /// Bits for each position: 1 (one cut at 0) or 2 (cuts at -4, 0 and 4 seeds)
    #[arg(long, value_name = "BITS", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=2))]
    bits: u8,
    /// Evaluation network [default: that of the existing bound tables, otherwise RULES-PITS.network beside the
    /// tables, otherwise the program's]
    #[arg(long, value_name = "FILE")]
    network: Option<PathBuf>,
    /// Write the bound tables to DIR [default: the directory of the exact tables]
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    common: args::Common,
}

#[derive(Serialize)]
struct Layer {
    #[serde(flatten)]
    table: BoundEntry,
    /// True if it existed already.
    kept: bool,
    seconds: f64,
}

#[derive(Serialize)]
struct BoundsReport {
    rules: &'static str,
    pits: usize,
    /// Cuts, in seeds.
    cuts: Vec<f64>,
    network: String,
    layers: Vec<Layer>,
}

impl Bounds {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        self.common.threads.start()?;
        let args::BoardFlags { rules, pits } = self.common.board;
        let network = self.network()?;
        let cuts = Cuts::with_bits(self.bits.into()).expect("the flag takes 1 or 2 bits");
        let maker = BoundMaker::new(&network, cuts);
        let directory = self.output.as_deref().unwrap_or(self.common.tables.path());
        let keys: Vec<TableKey> =
            self.seeds.clone().map(|seeds| TableKey { rules, pits, seeds: seeds as usize }).collect();
        // Before anything is written.
        for &key in keys.iter().filter(|key| !key.bounds_path(directory).exists()) {
            Table::open_key(self.common.tables.path(), key)?;
        }
        let _lock = DirectoryLock::take(directory)?;

        let pulse = stopped_by_signal();
        let mut missing = Vec::new();
        for &key in &keys {
            if pulse.cancel.is_cancelled() {
                bail!("stopped; run the same command again to continue");
            }
            if !self.is_current(key, &maker)? {
                missing.push(key);
            }
        }
        let needed: u64 = missing.iter().map(|&key| maker.file_bytes(key)).sum();
        if let Some(free) = available_disk(directory).filter(|&free| needed > free) {
            return Err(PlanError::Disk { needed, free, directory: directory.to_owned() }.into());
        }

        let progress = Progress::new(missing.iter().map(|key| layer_positions(pits, key.seeds)).sum());
        let mut layers = Vec::new();
        for key in keys {
            progress.stage(format!("layer {}", key.seeds));
            let (start, kept) = (Instant::now(), !missing.contains(&key));
            if !kept {
                let exact = Table::open_key(self.common.tables.path(), key)?;
                // Run in the pool, so that the waiting thread works on tasks, too.
                let write = || rayon::scope(|_| maker.write(&exact, directory, &pulse));
                progress.watch(&pulse.positions, write).if_stopped(format_args!(
                    "stopped in layer {}: finished layers are kept; run the same command again to continue",
                    key.seeds
                ))?;
            }
            let table = BoundTable::open(key.bounds_path(directory))?;
            let table = BoundEntry::new(&table);
            layers.push(Layer { table, kept, seconds: start.elapsed().as_secs_f64() });
        }
        progress.finish();
        let cuts = cuts.sixteenths().iter().map(|&cut| f64::from(cut) / f64::from(SEED)).collect();
        let network = output::hex(&network.digest());
        self.print(&BoundsReport { rules: rules.name(), pits, cuts, network, layers })?;
        Ok(Outcome::Done)
    }

    /// Returns the network of the bound tables.
    fn network(&self) -> failure::Result<Network> {
        let (args::BoardFlags { rules, pits }, own) = (self.common.board, self.common.tables.path());
        if let Some(path) = &self.network {
            return Ok(PhasedNetwork::open(path, rules, pits)?.first().clone());
        }
        let found = bound_network(own, self.output.as_deref().unwrap_or(own), rules, pits)?;
        found.ok_or_else(|| {
            failed(format_args!(
                "there is no evaluation network for {rules} with {}; \
                 train one with `kalah train` and put it beside the tables as {}",
                output::count(pits, "pit"),
                PhasedNetwork::file_name(rules, pits)
            ))
        })
    }

    /// Returns true if the bound table that this run would make exists and matches its checksums. Any other one is
    /// replaced if the exact table exists.
    fn is_current(&self, key: TableKey, maker: &BoundMaker<'_>) -> failure::Result<bool> {
        let directory = self.output.as_deref().unwrap_or(self.common.tables.path());
        let exact = Table::open_key(self.common.tables.path(), key);
        let is_made = |bounds: &BoundTable| maker.made(bounds, exact.as_ref().ok());
        let current = BoundTable::find(directory, key).and_then(|bounds| match bounds.filter(is_made) {
            Some(bounds) => check_in_parallel(bounds.blocks()).map(|_| true),
            None => Ok(false),
        });
        match current {
            Ok(true) => Ok(true),
            Ok(false) => Ok(exact.map(|_| false)?),
            Err(error) if error.is_worthless() && exact.is_ok() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn print(&self, report: &BoundsReport) -> failure::Result<()> {
        if self.common.json {
            return Ok(output::json(report)?);
        }
        for Layer { table, kept, seconds } in &report.layers {
            let shares =
                table.codes.iter().map(|&count| format!("{:.1} %", 100.0 * count as f64 / table.positions as f64));
            line!(
                "layer {}: {}, {}, {}, {}; intervals: {}",
                table.key.seeds,
                output::many(table.positions, "position"),
                HumanBytes(table.bytes),
                output::count(table.bits as usize, "bit"),
                if *kept { "kept".to_owned() } else { output::rate(table.positions, *seconds) },
                output::joined(shares, ", "),
            )?;
        }
        Ok(())
    }
}
