use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, value_parser};
use kalah::cancel::Cancel;
use kalah::evaluation::PhasedNetwork;
use kalah::file::replace;
use kalah::index::MAX_TABLE_SEEDS;
use kalah::printable::commas;
use kalah::table::Tables;
use kalah::train::{Fit, LEAST_TABLE_SEEDS, Trained, Trainer};
use serde::Serialize;

use crate::cli::flags::solver_flags::compare;
use crate::cli::{Context, Outcome, args, examples, failure, line, note, output};

/// Train an evaluation network, which orders the moves of searches
///
/// Use this for rules and boards without a network in the program. Training learns from exact scores of positions
/// that searches visit, within the tables and some seeds above them. Above that, it trains one network for every ten
/// seeds, from scores that searches estimate, except for rules with relays. The same tables and flags give the same
/// file. Searches use the file beside their tables named RULES-PITS.network instead of the program's network.
/// Existing bound tables keep the network that they were made with. See docs/evaluation.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Train a network for boards of 5 pits a side", "kalah train --pits 5 --seeds 24"),
    ("Train the network that the program contains", "kalah train --seeds 28 --output empty-capture-6.network"),
]))]
pub(crate) struct Train {
    #[command(flatten)]
    board: args::BoardFlags,
    #[command(flatten)]
    tables: args::Directory,
    /// Learn from tables up to this many seeds [default: all]
    #[arg(long, value_name = "N", value_parser = args::seeds)]
    seeds: Option<usize>,
    /// Write the network to FILE [default: RULES-PITS.network beside the tables]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: args::Force,
    /// Learn from N positions within the tables
    // A billion take 18 GB.
    #[arg(
        long,
        value_name = "N",
        default_value_t = Trainer::SAMPLES as u32,
        value_parser = value_parser!(u32).range(1..=1_000_000_000)
    )]
    samples: u32,
    /// Solve N positions above the tables, and learn from them
    #[arg(long, value_name = "N", default_value_t = Trainer::SOLVED as u32)]
    solved: u32,
    /// Learn each network further above the tables from N positions with scores estimated by searches. With 0, or
    /// for rules with relays, there is one network for all positions
    #[arg(long, value_name = "N", default_value_t = Trainer::ESTIMATED as u32)]
    estimated: u32,
    /// Passes through the positions; those further above the tables get three times as many
    #[arg(
        long,
        value_name = "N",
        default_value_t = Trainer::EPOCHS as u32,
        value_parser = value_parser!(u32).range(1..=1000)
    )]
    epochs: u32,
    #[command(flatten)]
    threads: args::Threads,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Fit of a network to scores.
#[derive(Serialize)]
struct Fitted {
    /// Least seeds of its phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    least_seeds: Option<u32>,
    positions: usize,
    deviation: f64,
    error: f64,
    explained: f64,
}

#[derive(Serialize)]
struct TrainReport {
    rules: &'static str,
    pits: usize,
    /// Seeds of the largest layer.
    seeds: usize,
    network: PathBuf,
    digest: String,
    samples: usize,
    /// Fit to other positions within the tables that searches visit.
    within: Fitted,
    /// Fit above the tables.
    above: Fitted,
    /// Fit to estimated scores in each phase further above.
    phases: Vec<Fitted>,
    seconds: f64,
}

impl Train {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        let (start, args::BoardFlags { rules, pits }) = (Instant::now(), self.board);
        self.threads.start()?;
        let tables = Tables::open(self.tables.path(), rules, pits, self.seeds.unwrap_or(MAX_TABLE_SEEDS))?;
        tables.require_all()?;
        tables.require(self.seeds.unwrap_or(LEAST_TABLE_SEEDS))?;
        let path = self.output.unwrap_or_else(|| self.tables.path().join(PhasedNetwork::file_name(rules, pits)));
        // An error here costs less than one after the training.
        self.force.prepare(&path)?;
        let [samples, solved, estimated, epochs] =
            [self.samples, self.solved, self.estimated, self.epochs].map(|number| number as usize);
        compare(tables.layers().iter().map(|table| table.blocks()), &Cancel::new())?;
        let trainer = Trainer { tables: &tables, samples, solved, estimated, epochs };
        let trained = trainer.run(&|step| note!("{step} ..."))?;
        replace(&path, |file| file.write_all(&trained.network.to_bytes()))
            .with_context(|| format!("cannot write {}", path.display()))?;
        let seeds = tables.max_seeds().unwrap_or(0);
        TrainReport::new(trained, seeds, path, start.elapsed().as_secs_f64()).print(self.json)?;
        Ok(Outcome::Done)
    }
}

impl TrainReport {
    fn new(trained: Trained, seeds: usize, network: PathBuf, seconds: f64) -> TrainReport {
        let Trained { network: of, samples, within, above, phases, .. } = trained;
        let round = |number: f64| (number * 1e4).round() / 1e4;
        let fitted = |least_seeds, fit: Fit| Fitted {
            least_seeds,
            positions: fit.positions,
            deviation: round(fit.deviation),
            error: round(fit.error),
            explained: round(fit.explained()),
        };
        TrainReport {
            rules: of.rules().name(),
            pits: of.pits(),
            seeds,
            network,
            digest: output::hex(&of.digest()),
            samples,
            within: fitted(None, within),
            above: fitted(None, above),
            phases: phases.into_iter().map(|(least_seeds, fit)| fitted(Some(least_seeds), fit)).collect(),
            seconds: round(seconds),
        }
    }

    fn print(&self, json: bool) -> std::io::Result<()> {
        if json {
            return output::json(self);
        }
        let samples = commas(self.samples as u64);
        line!("{}: learned from {samples} positions in {:.1} s", self.network.display(), self.seconds)?;
        line!("  digest {}", self.digest)?;
        let within = (format!("of searches, to {} seeds", self.seeds), &self.within);
        let above = ("of searches, above".to_owned(), &self.above);
        let of_phase = |fit: &Fitted| format!("estimated, from {} seeds", fit.least_seeds.unwrap_or(0));
        let phases = self.phases.iter().map(|fit| (of_phase(fit), fit));
        for (name, fit) in [within, above].into_iter().chain(phases) {
            let &Fitted { positions, error, explained, .. } = fit;
            if positions > 0 {
                let (share, positions) = (100.0 * explained, commas(positions as u64));
                line!("  {name:<28} {share:>5.1} % of the variance, error {error:.2} seeds, {positions} positions")?;
            }
        }
        Ok(())
    }
}
