use kalah_core::game::{MAX_PITS, Rules};
use kalah_play::play::PlayerName;
use kalah_solve::book::Books;

use super::answer::{BookEntry, ServerAnswer};
use super::error::MAX_SEEDS;

impl ServerAnswer {
    /// Describes a server with these books; it runs `searches` at a time, of at most `time` seconds, or `stream_time`
    /// if they are streamed.
    pub fn new(books: &Books, time: f64, stream_time: f64, searches: usize) -> ServerAnswer {
        ServerAnswer {
            version: env!("CARGO_PKG_VERSION"),
            rules: Rules::ALL.map(Rules::name),
            rule_sets: Rules::ALL.map(Into::into),
            players: PlayerName::KNOWN,
            time,
            stream_time,
            searches,
            seeds: MAX_SEEDS,
            pits: MAX_PITS,
            books: BookEntry::list(books),
        }
    }
}
