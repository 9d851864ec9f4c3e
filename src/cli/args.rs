//! Flags that several commands have.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use kalah::game::Rules;
use kalah::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};

/// The game that is played.
#[derive(Args, Clone, Copy)]
pub struct Board {
    /// Rule set: empty-capture, standard or s-kalaha
    #[arg(long, default_value_t, value_name = "RULES")]
    pub rules: Rules,
    /// Pits a side
    #[arg(long, default_value_t = 6, value_parser = pits)]
    pub pits: usize,
}

/// Where the tables are.
#[derive(Args, Clone)]
pub struct Directory {
    /// Directory of the tables
    #[arg(long = "tables", value_name = "DIR", default_value = "tables", env = "KALAH_TABLES")]
    pub path: PathBuf,
}

/// How many threads to use.
#[derive(Args, Clone, Copy)]
pub struct Threads {
    /// Threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

impl Threads {
    /// Makes the pool on which everything parallel runs.
    pub fn start(self) -> anyhow::Result<()> {
        let threads = self.threads.map_or(0, usize::from);
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().context("cannot start the threads")
    }
}

/// What most commands ask for.
#[derive(Args, Clone)]
pub struct Common {
    #[command(flatten)]
    pub board: Board,
    #[command(flatten)]
    pub tables: Directory,
    #[command(flatten)]
    pub threads: Threads,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Reads the pits of a table's board.
pub fn pits(text: &str) -> Result<usize, String> {
    number(text, 1, MAX_TABLE_PITS, "pits a side")
}

/// Reads the seeds of a layer.
pub fn seeds(text: &str) -> Result<usize, String> {
    number(text, 2, MAX_TABLE_SEEDS, "seeds")
}

fn number(text: &str, least: usize, most: usize, what: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("tables have {least} to {most} {what}"))
}

/// Reads an amount of memory such as 512MiB or 4G.
pub fn bytes(text: &str) -> Result<u64, String> {
    let bytes: Result<bytesize::ByteSize, _> = text.parse();
    bytes.map(|bytes| bytes.as_u64()).map_err(|_| "write bytes, or a size such as 512MiB or 4GiB".to_owned())
}
