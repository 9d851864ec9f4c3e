use std::io::{self, BufReader};

use clap::Args;
use kalah::game::Rules;
use kalah::play::PlayerName;
use kalah::play::engine::serve_engine;
use kalah::solve::SearchTables;
use kalah::table::AllTables;

use crate::cli::{Outcome, PlayerFlags, args, directories, examples, failure, remote};

/// Play for another program, over standard input and output
///
/// Use this to play from a graphical interface or a tournament manager. It speaks a line protocol similar to UCI; see
/// docs/engine.md. --rules applies until the first `newgame`, which sets the rules.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Start an engine of medium strength", "kalah engine --player alphabeta:6"),
    ("Start a perfect engine with larger searches", "kalah engine --transpositions 4GiB"),
]))]
pub(crate) struct Engine {
    /// Player to run
    #[arg(long, value_name = "NAME", default_value = "perfect")]
    player: PlayerName,
    #[command(flatten)]
    with: PlayerFlags,
    #[command(flatten)]
    book: args::BookFlag,
}

impl Engine {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        self.with.threads.start()?;
        directories::note_unused(self.with.directory());
        let books = self.book.find(self.with.directory(), &Rules::ALL)?;
        let all_tables = AllTables::new(self.with.directory());
        remote::fetch_for_searches(&all_tables, self.with.tables.fetch_limit())?;
        let none = SearchTables::default();
        let setting = self.with.setting(&none, rayon::current_num_threads());
        serve_engine(BufReader::new(io::stdin()), io::stdout(), self.player, setting, &all_tables, &books)?;
        Ok(Outcome::Done)
    }
}
