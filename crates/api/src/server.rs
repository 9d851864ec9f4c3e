use std::time::Duration;

use kalah_core::game::{MAX_PITS, Rules};
use kalah_play::play::PlayerName;
use kalah_solve::book::Books;

use super::answer::{BookEntry, ServerAnswer};
use super::error::MAX_SEEDS;

/// Default and maximum time of a search in a page without a server.
pub const PAGE_TIME: Duration = Duration::from_secs(5);

/// Maximum time of a search there whose results are streamed.
pub const PAGE_STREAM_TIME: Duration = Duration::from_secs(600);

impl ServerAnswer {
    /// Describes the engine in a page with these books.
    pub fn of_page(books: &Books) -> ServerAnswer {
        let [time, stream_time] = [PAGE_TIME, PAGE_STREAM_TIME].map(|time| time.as_secs_f64());
        ServerAnswer::new(books, time, stream_time, 1)
    }

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
