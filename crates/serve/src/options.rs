use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kalah_api::{ApiError, Sources};
use kalah_core::directory::Directory;
use kalah_core::table::AllTables;
use kalah_solve::book::Books;
use kalah_solve::solve::SearchMemory;

/// Settings of a server.
pub struct Options {
    /// The tables. Their directory may be empty.
    pub all_tables: Arc<AllTables>,
    /// Books, which are used before searches.
    pub books: Books,
    /// Maximum time of a search.
    pub time: Duration,
    /// Maximum time of a streaming search.
    pub stream_time: Duration,
    /// Maximum searches at a time, at least 1. Further requests are refused with status 503.
    pub searches: usize,
    /// Threads of one search, at least 1.
    pub threads: usize,
    /// Memory of one search.
    pub memory: SearchMemory,
    /// Maximum time of a client for each of these: sending the head of a request, sending its body, reading an
    /// answer, and the next request.
    pub patience: Duration,
    /// Hosts that the server answers as, besides `localhost`, loopback addresses and the address of the connection, as
    /// [`super::host`] returns them. Pages of these hosts may use the server, on any port.
    pub hosts: Vec<String>,
    /// Called with failures that are not a client's fault, each as one line of text.
    pub log: Box<dyn Fn(&str) + Send + Sync>,
}

impl Options {
    /// Returns the default settings with the tables in `tables`: one search at a time, of 5 seconds (60 if streamed),
    /// with one thread and a transposition table of [`SearchMemory::SHARED_TRANSPOSITIONS`]; 10 seconds for clients; no
    /// books, no other hosts, no reports of failures.
    pub fn new(tables: impl Into<Directory>) -> Options {
        Options {
            // A mapped file that becomes shorter would end the server.
            all_tables: Arc::new(AllTables::new(tables.into().reading_files())),
            books: Books::none(),
            time: Duration::from_secs(5),
            stream_time: Duration::from_secs(60),
            searches: 1,
            threads: 1,
            memory: SearchMemory::shared(None, SearchMemory::SHARED_TRANSPOSITIONS),
            patience: Duration::from_secs(10),
            hosts: Vec::new(),
            log: Box::new(|_| ()),
        }
    }

    pub(super) fn sources(&self) -> Sources<'_> {
        Sources { all_tables: &self.all_tables, books: &self.books }
    }

    /// Reports an error to the operator, unless it is the client's fault.
    pub(super) fn report(&self, error: &ApiError) {
        if error.is_of_server() {
            (self.log)(&error.to_string());
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("tables", self.all_tables.directory()).finish_non_exhaustive()
    }
}
