use std::time::Duration;

use kalah_base::printable::hex;
use kalah_core::game::{MAX_PITS, Rules};
use kalah_core::table::{Listing, Table, TableError, TableKey};
use kalah_play::play::PlayerName;
use kalah_solve::book::{Book, Books};
use serde::Serialize;

use crate::fields::MAX_SEEDS;

/// Default and maximum time of a search in a page without a server.
pub const PAGE_TIME: Duration = Duration::from_secs(5);

/// Maximum time of a search there whose results are streamed.
pub const PAGE_STREAM_TIME: Duration = Duration::from_secs(600);

/// A table.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TableEntry {
    rules: &'static str,
    pits: usize,
    seeds: usize,
    positions: u64,
    bytes: u64,
    bits_per_position: f64,
    /// Number of scores that are exceptions.
    exceptions: u64,
    digest: String,
}

/// Missing layers below others of a board, which are not used.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Gap {
    rules: &'static str,
    pits: usize,
    /// Seeds of the missing layers.
    missing: Vec<usize>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct DamagedEntry {
    file: String,
    error: String,
}

/// The tables in a directory.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TablesAnswer {
    tables: Vec<TableEntry>,
    gaps: Vec<Gap>,
    damaged: Vec<DamagedEntry>,
}

impl From<&Table> for TableEntry {
    fn from(table: &Table) -> TableEntry {
        let (TableKey { rules, pits, seeds }, header) = (table.key(), table.header());
        TableEntry {
            rules: rules.name(),
            pits,
            seeds,
            positions: header.positions,
            bytes: header.file_bytes,
            bits_per_position: (1000.0 * header.bits_per_position()).round() / 1000.0,
            exceptions: header.exceptions(),
            digest: hex(&header.digest),
        }
    }
}

impl From<&Listing> for TablesAnswer {
    fn from(listing: &Listing) -> TablesAnswer {
        let gap = |(rules, pits, missing): (Rules, usize, _)| Gap { rules: rules.name(), pits, missing };
        let damaged =
            |(file, error): &(String, TableError)| DamagedEntry { file: file.clone(), error: error.to_string() };
        let damaged = listing.damaged.iter().map(damaged).collect();
        let gaps = listing.gaps().into_iter().map(gap).collect();
        TablesAnswer { tables: listing.tables.iter().map(TableEntry::from).collect(), gaps, damaged }
    }
}

/// Description of a rule set.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RuleSet {
    name: &'static str,
    played_by: &'static str,
    summary: &'static str,
    /// True if a last seed in the mover's store gives another move.
    moves_again: bool,
}

/// Book of one board.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct BookEntry {
    rules: &'static str,
    pits: usize,
    positions: usize,
}

/// Description of the server and its limits.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ServerAnswer {
    version: &'static str,
    rules: [&'static str; Rules::ALL.len()],
    rule_sets: [RuleSet; Rules::ALL.len()],
    players: [&'static str; 8],
    /// Maximum seconds of a search.
    time: f64,
    /// Maximum seconds of a streaming search.
    stream_time: f64,
    /// Maximum number of searches at a time.
    searches: usize,
    /// Maximum seeds in play.
    seeds: u32,
    /// Maximum pits a side.
    pits: usize,
    books: Vec<BookEntry>,
}

impl ServerAnswer {
    /// Describes a server with these books; it runs `searches` at a time, of at most `time`, or `stream_time` if they
    /// are streamed.
    pub fn new(books: &Books, time: Duration, stream_time: Duration, searches: usize) -> ServerAnswer {
        let book = |book: &Book| BookEntry { rules: book.rules().name(), pits: book.pits(), positions: book.len() };
        ServerAnswer {
            version: env!("CARGO_PKG_VERSION"),
            rules: Rules::ALL.map(Rules::name),
            rule_sets: Rules::ALL.map(|rules| RuleSet {
                name: rules.name(),
                played_by: rules.played_by(),
                summary: rules.summary(),
                moves_again: rules.moves_again(),
            }),
            players: PlayerName::KNOWN,
            time: time.as_secs_f64(),
            stream_time: stream_time.as_secs_f64(),
            searches,
            seeds: MAX_SEEDS,
            pits: MAX_PITS,
            books: books.iter().filter(|book| !book.is_empty()).map(book).collect(),
        }
    }
}
