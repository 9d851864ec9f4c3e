//! What commands with players have in common: flags, tables, what players are made with.

use std::path::Path;
use std::time::Duration;

use clap::Args;
use kalah::game::{Position, Rules};
use kalah::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use kalah::play::Setting;
use kalah::solve::SearchTables;
use kalah::table::TableKey;

use crate::cli::flags::args;
use crate::cli::output;

/// How players play.
#[derive(Args)]
pub struct PlayerFlags {
    /// Rule set
    #[arg(long, default_value_t, value_name = "RULES")]
    pub rules: Rules,
    /// The most memory of a solver's transposition table, such as 4GiB
    #[arg(long, value_name = "SIZE", value_parser = args::bytes, default_value = "256MiB")]
    memory: u64,
    /// Seed of all random choices
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub seed: u64,
    #[command(flatten)]
    tables: args::Directory,
    #[command(flatten)]
    pub threads: args::Threads,
}

impl PlayerFlags {
    /// The directory of the tables.
    pub fn directory(&self) -> &Path {
        &self.tables.path
    }

    /// The tables for games from `position`, as far as there are any; with `bounds` also bound tables, and a note where there
    /// is no table at all.
    pub fn open_tables(&self, position: &Position, bounds: bool) -> anyhow::Result<SearchTables> {
        let (rules, pits) = (self.rules, position.pits());
        if pits > MAX_TABLE_PITS {
            return Ok(SearchTables::default());
        }
        let last = TableKey { rules, pits, seeds: MAX_TABLE_SEEDS.min(position.seeds() as usize) };
        if !bounds {
            return Ok(SearchTables::exact(&self.tables.path, last)?);
        }
        let tables = SearchTables::open(&self.tables.path, last, None)?;
        if let Some(tables) = tables.tables() {
            args::note_gaps(tables);
        }
        if tables.reach == 0 {
            let (directory, board) = (self.tables.path.display(), output::count(pits, "pit"));
            output::note(format_args!("no tables for {rules} with {board} in {directory}: playing without"));
        }
        Ok(tables)
    }

    /// What players are made with, solvers with so many threads.
    pub fn setting<'t>(&self, tables: &'t SearchTables, threads: usize) -> Setting<'t> {
        self.own_setting(Setting::new(self.rules).tables(tables.tables()).bounds(tables.bounds()), threads)
    }

    /// `setting` with the memory and the seed of these flags, solvers with so many threads.
    pub fn own_setting<'t>(&self, setting: Setting<'t>, threads: usize) -> Setting<'t> {
        setting.memory(self.memory).threads(threads).game(self.seed)
    }
}

/// The most seconds that can be asked for: thirty years, which every clock can count.
const MOST_SECONDS: f64 = 1e9;

/// Reads a number of seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|&seconds: &f64| seconds > 0.0 && seconds <= MOST_SECONDS);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    // Less than half a nanosecond is none.
    let time = time.filter(|time| !time.is_zero());
    time.ok_or_else(|| format!("write a number of seconds above 0, {MOST_SECONDS} at the most"))
}
