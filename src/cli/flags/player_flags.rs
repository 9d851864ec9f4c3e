//! Players: their flags, tables and settings.

use clap::Args;
use kalah::game::{Position, Rules};
use kalah::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use kalah::play::Setting;
use kalah::solve::{SearchMemory, SearchTables};
use kalah::table::{Directory, TableKey};

use crate::cli::{args, failure, note, output, remote};

/// Flags for the memory of searches that share tables.
#[derive(Args)]
pub(crate) struct SharedMemory {
    /// Limit the memory of each search, such as 16GiB: transposition table and tables, page cache included. Tables
    /// that do not fit are not used [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = args::memory)]
    memory: Option<u64>,
    /// Limit the transposition table of each search to this size, such as 4GiB [default: 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = args::memory)]
    transpositions: Option<u64>,
}

impl SharedMemory {
    /// Returns the memory of each search.
    pub(crate) fn of_each(&self) -> SearchMemory {
        SearchMemory::shared(self.memory, self.transpositions.unwrap_or(SearchMemory::SHARED_TRANSPOSITIONS))
    }
}

/// Flags of commands with players.
#[derive(Args)]
pub(crate) struct PlayerFlags {
    /// Rule set
    #[arg(long, default_value_t, value_name = "RULES")]
    pub rules: Rules,
    #[command(flatten)]
    memory: SharedMemory,
    /// Seed of all random choices; the same seed repeats them
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub seed: u64,
    #[command(flatten)]
    pub tables: args::Directory,
    #[command(flatten)]
    pub threads: args::Threads,
}

impl PlayerFlags {
    /// Returns the directory of the tables.
    pub(crate) fn directory(&self) -> &Directory {
        self.tables.directory()
    }

    /// Opens the tables for games from `position`. With `bounds` bound tables are opened, too, and a note says if
    /// there is no table at all.
    pub(crate) fn open_tables(&self, position: &Position, bounds: bool) -> failure::Result<SearchTables> {
        let (rules, pits) = (self.rules, position.pits());
        if pits > MAX_TABLE_PITS {
            return Ok(SearchTables::default());
        }
        let last = TableKey { rules, pits, seeds: MAX_TABLE_SEEDS.min(position.seeds() as usize) };
        if !bounds {
            return Ok(SearchTables::exact(self.tables.directory(), last)?);
        }
        let tables = SearchTables::open(self.tables.directory(), last, None)?;
        remote::fetch_for_search(tables.tables(), Some(position), self.tables.fetch_limit())?;
        if let Some(tables) = tables.tables() {
            args::note_gaps(tables);
        }
        if tables.reach == 0 {
            let (directory, board) = (self.tables.directory(), output::count(pits, "pit"));
            note!("there are no tables for {rules} with {board} in {directory}: playing without them");
        }
        Ok(tables)
    }

    /// Returns the setting from which players are made. Solvers get `threads` threads.
    pub(crate) fn setting<'t>(&self, tables: &'t SearchTables, threads: usize) -> Setting<'t> {
        Setting {
            tables: tables.tables(),
            bounds: tables.bounds(),
            memory: self.memory.of_each(),
            threads,
            game: self.seed,
            ..Setting::new(self.rules)
        }
    }
}
