use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{anyhow, bail};
use clap::Args;
use indicatif::{HumanBytes, HumanCount};
use kalah::build::PlanError;
use kalah::evaluation::{Network, PhasedNetwork, SEED};
use kalah::index::{MAX_TABLE_SEEDS, layer_positions};
use kalah::progress::Pulse;
use kalah::solve::{BoundNetwork, bound_tables};
use kalah::system::available_disk;
use kalah::table::{
    BoundMaker, BoundTable, Cuts, DirectoryLock, Table, TableError, TableKey, check_blocks_in_parallel,
};
use serde::Serialize;

use crate::cli::errors::statement::statement;
use crate::cli::flags::args;
use crate::cli::flags::args::Range;
use crate::cli::help::examples;
use crate::cli::output;
use crate::cli::output::progress::Progress;
use crate::cli::process::outcome::Outcome;
use crate::cli::process::signals::stopped_by_signal;

/// Make bound tables, a half or a quarter as large, for solving
///
/// A bound table states for each position in which interval around its evaluation the score lies. The exact tables may be
/// deleted afterwards: a search then uses the exact layers up to the first that is missing, and bound tables above them. Bound
/// tables that are there already, made from the same table with the same network and cuts, are compared with their checksums
/// and kept; others are replaced. The command can be stopped at any time (Ctrl-C); the same command goes on after the last
/// finished layer. See docs/bounds.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Two bits a position of the layers from 15 seeds up", "kalah bounds --seeds 15..28"),
    ("One bit, whether the score reaches the evaluation", "kalah bounds --seeds 29..30 --bits 1"),
]))]
pub struct Bounds {
    /// The layers: a number of seeds in play, or a range such as 15..28
    #[arg(long, value_name = "A..B", value_parser = args::range::<2, { MAX_TABLE_SEEDS as u32 }>)]
    seeds: Range,
    /// Bits for each position: 1 (one cut, at 0) or 2 (three cuts, at -4, 0 and 4 seeds)
    #[arg(long, value_name = "BITS", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=2))]
    bits: u8,
    /// Other cuts: one or three distances from the evaluation, in seeds, ascending, in steps of a sixteenth
    #[arg(long, value_name = "SEEDS,...", value_parser = cuts, allow_hyphen_values = true, conflicts_with = "bits")]
    cuts: Option<Cuts>,
    /// The evaluation network [default: that of the bound tables that are there, else RULES-PITS.network beside the tables, else
    /// the one that the program comes with]
    #[arg(long, value_name = "FILE")]
    network: Option<PathBuf>,
    /// Directory of the bound tables [default: that of the exact ones]
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    common: args::Common,
}

/// Reads one or three cuts in seeds, such as -4,0,4.
fn cuts(text: &str) -> Result<Cuts, String> {
    let sixteenths = |text: &str| {
        let sixteenths = text.trim().parse::<f64>().ok()? * f64::from(SEED);
        let fits = sixteenths.fract() == 0.0 && sixteenths.abs() <= f64::from(i16::MAX);
        fits.then_some(sixteenths as i16)
    };
    let cuts: Option<Vec<i16>> = text.split(',').map(sixteenths).collect();
    cuts.and_then(|cuts| Cuts::new(&cuts)).ok_or_else(|| {
        "write one or three numbers of seeds, ascending, in steps of 0.0625, such as 0 or -4,0,4".to_owned()
    })
}

/// The network of new bound tables in `directory` where none is named. A note says if it is not that of the directory of the
/// exact tables or the program's.
pub fn find_network(common: &args::Common, directory: &Path) -> anyhow::Result<Network> {
    let (args::BoardFlags { rules, pits }, own) = (common.board, &common.tables.path);
    let file = PhasedNetwork::file_name(rules, pits);
    let Some(found) = BoundNetwork::find(own, directory, rules, pits)? else {
        bail!(
            "the program has no evaluation network for {rules} with {}; \
             make one with `kalah train` and put it beside the tables as {file}",
            output::count(pits, "pit")
        );
    };
    if let Some(table) = found.instead {
        output::note(format_args!(
            "using the evaluation network of {}, not {}; --network FILE of `kalah bounds` chooses another",
            table.display(),
            if own.join(&file).exists() { &file } else { "the program's" },
        ));
    }
    Ok(found.network)
}

#[derive(Serialize)]
struct Layer {
    seeds: usize,
    positions: u64,
    bytes: u64,
    bits: u32,
    /// Positions with each code, from the lowest interval up.
    codes: Vec<u64>,
    digest: String,
    /// Whether it was there already.
    kept: bool,
    seconds: f64,
}

#[derive(Serialize)]
struct BoundsReport {
    rules: &'static str,
    pits: usize,
    /// In seeds.
    cuts: Vec<f64>,
    network: String,
    layers: Vec<Layer>,
}

impl Bounds {
    pub fn run(self) -> anyhow::Result<Outcome> {
        self.common.threads.start()?;
        let args::BoardFlags { rules, pits } = self.common.board;
        let network = self.network()?;
        let cuts = self.cuts.or(Cuts::of_bits(self.bits.into())).expect("the flag takes 1 or 2 bits");
        let maker = BoundMaker::new(&network, cuts);
        let directory = self.output.as_ref().unwrap_or(&self.common.tables.path);
        let keys: Vec<TableKey> =
            self.seeds.iter().map(|seeds| TableKey { rules, pits, seeds: seeds as usize }).collect();
        // Before anything is written.
        for &key in keys.iter().filter(|key| !key.bounds_path(directory).exists()) {
            Table::open_key(&self.common.tables.path, key)?;
        }
        let _lock = DirectoryLock::take(directory)?;

        let others = bound_tables(directory, rules, pits).into_iter().filter(|table| !keys.contains(&table.key()));
        if let Some(other) = others.into_iter().find(|table| *table.network() != network) {
            output::note(format_args!(
                "{} was made with another evaluation network, and a search uses bound tables of one network only: make all \
                 of them with the same one",
                other.path().display(),
            ));
        }
        let pulse = stopped_by_signal();
        let mut missing = Vec::new();
        for &key in &keys {
            if pulse.cancel.is_cancelled() {
                bail!("stopped; the same command goes on from here");
            }
            if !self.is_current(key, &maker)? {
                missing.push(key);
            }
        }
        let needed: u64 = missing.iter().map(|&key| maker.file_bytes(key)).sum();
        if let Some(free) = available_disk(directory).filter(|&free| needed > free) {
            return Err(PlanError::Disk { needed, free, directory: directory.clone() }.into());
        }

        let progress = Progress::new(missing.iter().map(|key| layer_positions(pits, key.seeds)).sum());
        let mut layers = Vec::new();
        for key in keys {
            progress.stage(format!("layer {}", key.seeds));
            let (start, kept) = (Instant::now(), !missing.contains(&key));
            if !kept {
                progress.watch(&pulse.positions, || self.make(key, &maker, &pulse))?;
            }
            let table = BoundTable::open(&key.bounds_path(directory))?;
            layers.push(Layer::new(&table, kept, start.elapsed().as_secs_f64()));
        }
        progress.finish();
        let cuts = cuts.sixteenths().iter().map(|&cut| f64::from(cut) / f64::from(SEED)).collect();
        let network = output::hex(&network.digest());
        self.tell(&BoundsReport { rules: rules.name(), pits, cuts, network, layers })?;
        Ok(Outcome::Done)
    }

    /// The network of the bound tables.
    fn network(&self) -> anyhow::Result<Network> {
        let args::BoardFlags { rules, pits } = self.common.board;
        match &self.network {
            Some(path) => Ok(PhasedNetwork::open(path, rules, pits)?.first().clone()),
            None => find_network(&self.common, self.output.as_ref().unwrap_or(&self.common.tables.path)),
        }
    }

    /// Whether the bound table that this run would make is there and agrees with its checksums. A note says if it is damaged
    /// and made again; without the exact table that is an error.
    fn is_current(&self, key: TableKey, maker: &BoundMaker<'_>) -> anyhow::Result<bool> {
        let directory = self.output.as_ref().unwrap_or(&self.common.tables.path);
        let exact = Table::open_key(&self.common.tables.path, key);
        let is_made = |bounds: &BoundTable| maker.made(bounds, exact.as_ref().ok());
        let current = BoundTable::open_key(directory, key).and_then(|bounds| match bounds.filter(is_made) {
            Some(bounds) => check_blocks_in_parallel(bounds.blocks()).map(|_| true),
            None => Ok(false),
        });
        match (current, exact) {
            (Ok(true), _) => Ok(true),
            // Whatever is there is replaced, if there is what to make it from.
            (Ok(false), exact) => exact.map(|_| false).map_err(Into::into),
            (Err(error), Ok(_)) if error.is_damage() && !error.is_newer() => {
                output::note(format_args!("{}; it is made again", statement(&error)));
                Ok(false)
            }
            (Err(error), _) => Err(error.into()),
        }
    }

    /// Makes the bound table of a layer.
    fn make(&self, key: TableKey, maker: &BoundMaker<'_>, pulse: &Pulse) -> anyhow::Result<()> {
        let directory = self.output.as_ref().unwrap_or(&self.common.tables.path);
        let exact = Table::open_key(&self.common.tables.path, key)?;
        // In the pool: what waits for tasks takes part in them.
        match rayon::scope(|_| maker.write(&exact, directory, pulse)) {
            Err(TableError::Stopped(_)) => Err(anyhow!(
                "stopped in layer {}: finished layers are kept, the same command goes on from there",
                key.seeds
            )),
            written => Ok(written.map(drop)?),
        }
    }

    fn tell(&self, report: &BoundsReport) -> anyhow::Result<()> {
        if self.common.json {
            return Ok(output::json(report)?);
        }
        for layer in &report.layers {
            let shares =
                layer.codes.iter().map(|&count| format!("{:.1} %", 100.0 * count as f64 / layer.positions as f64));
            output::line(format_args!(
                "layer {}: {} positions, {}, {} {}, {}: {}",
                layer.seeds,
                HumanCount(layer.positions),
                HumanBytes(layer.bytes),
                layer.bits,
                if layer.bits == 1 { "bit" } else { "bits" },
                if layer.kept { "kept".to_owned() } else { output::rate(layer.positions, layer.seconds) },
                output::joined(shares, ", "),
            ))?;
        }
        Ok(())
    }
}

impl Layer {
    fn new(table: &BoundTable, kept: bool, seconds: f64) -> Layer {
        let header = table.header();
        Layer {
            seeds: header.key.seeds,
            positions: header.positions,
            bytes: header.file_bytes,
            bits: header.bits,
            codes: header.counts()[..1 << header.bits].to_vec(),
            digest: output::hex(&header.digest),
            kept,
            seconds,
        }
    }
}
