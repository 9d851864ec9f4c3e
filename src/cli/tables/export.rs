use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::Args;
use kalah::export::{Export as Positions, ExportError, ExportFormat, export};
use kalah::file::{Replacement, resolved};
use kalah::table::{Table, TableKey};

use crate::cli::{
    Context, Failure, Outcome, Progress, Stoppable, args, examples, failure, output, stopped_by_signal, usage,
};

/// Write the scores of a layer for other programs
///
/// Use this to train models, or to analyse scores elsewhere. It writes all positions of the layer in the order of the
/// table, or a random sample. Each position has the mover's row, the other row, and the score: the number of seeds in
/// play that the mover collects with best play. Stores are left out, since scores do not depend on them. See
/// docs/commands.md for the formats.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Write a layer as CSV", "kalah export --seeds 8 --output layer-8.csv"),
    ("Sample a million positions for numpy", "kalah export --seeds 20 --sample 1000000 --format npy --output \
         sample.npy"),
]))]
pub(crate) struct Export {
    /// Export the layer with this many seeds
    #[arg(long, value_name = "N", value_parser = args::seeds)]
    seeds: usize,
    /// Write only N positions, drawn at random without replacement [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    sample: Option<u64>,
    /// Seed of the random sample
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "csv", value_parser = args::named(FORMATS, |(name, _)| name))]
    format: (&'static str, ExportFormat),
    /// Write to FILE; - for standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    #[command(flatten)]
    force: args::Force,
    #[command(flatten)]
    board: args::BoardFlags,
    #[command(flatten)]
    tables: args::Directory,
    #[command(flatten)]
    threads: args::Threads,
}

/// The formats of this program, by name.
const FORMATS: &[(&str, ExportFormat)] = &[
    ("csv", ExportFormat::Csv),
    ("npy", ExportFormat::Npy),
    #[cfg(feature = "parquet")]
    ("parquet", ExportFormat::Parquet),
];

impl Export {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        let (_, format) = self.format;
        let to_stdout = output::is_stdout(&self.output);
        if to_stdout && format != ExportFormat::Csv && io::stdout().is_terminal() {
            return Err(usage("this format is not text and would garble the terminal: give --output FILE"));
        }
        let path = resolved(&self.output);
        if !to_stdout {
            self.force.prepare(&path)?;
        }
        self.threads.start()?;
        let args::BoardFlags { rules, pits } = self.board;
        let table = Table::open_key(self.tables.directory(), TableKey { rules, pits, seeds: self.seeds })?;
        let all = table.header().positions;
        if self.sample.is_some_and(|count| count > all) {
            return Err(usage(format_args!(
                "the layer has only {all} positions: sample fewer, or leave out --sample to export all of them"
            )));
        }
        let positions = Positions { table: &table, format, sample: self.sample.map(|count| (count, self.seed)) };
        let pulse = stopped_by_signal();
        let progress = Progress::new(positions.positions()).at(format!("exporting {}", table.key()));
        let written = progress.complete(&pulse.positions, || {
            if to_stdout {
                return export(&positions, &mut io::stdout().lock(), &pulse);
            }
            let mut file = Replacement::begin(&path)?;
            export(&positions, &mut file, &pulse)?;
            Ok(file.finish()?)
        });
        let written = match written {
            // The reader of a pipe may have closed it.
            Err(ExportError::Io(error)) if to_stdout => Err(error.into()),
            Err(error @ ExportError::Io(_)) => {
                Err(error).with_context(|| format!("cannot write {}", self.output.display()))
            }
            written => written.map_err(Failure::from),
        };
        let kept = if to_stdout { "the output is incomplete" } else { "no file is written" };
        written.if_stopped(format_args!("stopped: {kept}; the same command starts over"))?;
        Ok(Outcome::Done)
    }
}
