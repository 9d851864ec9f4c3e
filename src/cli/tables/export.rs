use std::io::{self, IsTerminal};
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use kalah::export::{Export as Positions, ExportError, ExportFormat, export};
use kalah::file::{Output, is_stream};
use kalah::table::{Table, TableKey};

use crate::cli::flags::args;
use crate::cli::help::examples;
use crate::cli::output;
use crate::cli::output::progress::Progress;
use crate::cli::process::outcome::{Outcome, usage};
use crate::cli::process::signals::stopped_by_signal;

/// Write the scores of a layer for other programs
///
/// All positions of the layer, or a random sample of them, in the order of the table: the mover's row, the other row and the
/// score, which is how many of the seeds in play the mover collects with best play. Stores do not matter.
#[derive(Args)]
#[command(after_help = examples(&[
    ("A layer as CSV", "kalah export --seeds 8 --output layer-8.csv"),
    ("A million random positions with exact scores, for numpy", "kalah export --seeds 20 --sample 1000000 --format npy --output sample.npy"),
]))]
pub struct Export {
    /// The layer with this many seeds
    #[arg(long, value_name = "N", value_parser = args::seeds)]
    seeds: usize,
    /// Only so many positions, at random, none twice [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    sample: Option<u64>,
    /// Seed of the sample
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// What is written: csv, jsonl, npy or parquet
    #[arg(long, value_name = "FORMAT", default_value = "csv")]
    format: FormatName,
    /// The file, which is replaced when all is written; or a pipe or device; - for standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    #[command(flatten)]
    board: args::BoardFlags,
    #[command(flatten)]
    tables: args::Directory,
    #[command(flatten)]
    threads: args::Threads,
}

/// The names of the formats.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FormatName {
    /// Comma-separated values
    Csv,
    /// A JSON object a line
    Jsonl,
    /// A numpy array
    Npy,
    /// Apache Parquet, compressed
    Parquet,
}

impl Export {
    pub fn run(self) -> anyhow::Result<Outcome> {
        let format = match self.format {
            FormatName::Csv => ExportFormat::Csv,
            FormatName::Jsonl => ExportFormat::JsonLines,
            FormatName::Npy => ExportFormat::Npy,
            #[cfg(feature = "parquet")]
            FormatName::Parquet => ExportFormat::Parquet,
            #[cfg(not(feature = "parquet"))]
            FormatName::Parquet => {
                return Err(usage(
                    "this program was built without the feature `parquet`: build it with \
                     `cargo build --release --locked --features parquet`, or choose another --format",
                ));
            }
        };
        let to_stdout = output::is_stdout(&self.output);
        if to_stdout && !format.is_text() && io::stdout().is_terminal() {
            return Err(usage("bytes that are not text would only disturb the terminal: give --output FILE"));
        }
        self.threads.start()?;
        let args::BoardFlags { rules, pits } = self.board;
        let table = Table::open_key(&self.tables.path, TableKey { rules, pits, seeds: self.seeds })?;
        let mut positions = Positions::new(&table, format);
        if let Some(count) = self.sample {
            let all = table.header().positions;
            if count > all {
                return Err(usage(format_args!(
                    "the layer has {all} positions: sample fewer, or leave --sample out to have all of them"
                )));
            }
            positions = positions.sample(count, self.seed);
        }
        let pulse = stopped_by_signal();
        let progress = Progress::new(positions.positions());
        progress.stage(format!("exporting {}", table.key()));
        let written = progress.watch(&pulse.positions, || {
            if to_stdout {
                return export(&positions, &mut io::stdout().lock(), &pulse);
            }
            let mut file = Output::begin(&self.output, None)?;
            export(&positions, &mut file, &pulse)?;
            Ok(file.finish()?)
        });
        progress.finish();
        match written {
            Ok(()) => Ok(Outcome::Done),
            Err(ExportError::Stopped) => {
                let kept = if to_stdout || is_stream(&self.output) {
                    "the output is incomplete"
                } else {
                    "no file is written"
                };
                output::tell(format_args!("stopped: {kept}; the same command begins anew"));
                Ok(Outcome::Failed)
            }
            Err(ExportError::Table(error)) => Err(error.into()),
            Err(ExportError::Io(error)) if to_stdout => Err(error.into()),
            Err(error) => Err(error).with_context(|| format!("cannot write {}", self.output.display())),
        }
    }
}
