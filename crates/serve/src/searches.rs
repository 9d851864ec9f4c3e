use std::time::Duration;

use kalah_api::{ApiError, Code, Searcher, Sources};
use kalah_core::cancel::Cancel;
use kalah_core::game::{Position, Rules};
use kalah_core::table::{AllTables, BoundTables, TableError, Tables};
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::options::Options;

/// Time in which the thread of a search that was given up becomes free.
const LEAVING: Duration = Duration::from_millis(200);

/// Tables that a search reads: those of a board, up to a number of seeds.
#[derive(Clone, Copy)]
pub(super) struct NeededTables {
    pub rules: Rules,
    pub pits: usize,
    pub seeds: u32,
}

impl NeededTables {
    /// Returns the tables that a search of `position` reads.
    pub(crate) fn of(rules: Rules, position: &Position) -> NeededTables {
        NeededTables { rules, pits: position.pits(), seeds: position.seeds() }
    }

    /// Returns an error if one of these tables became shorter while a search used it. Look-ups find that themselves.
    fn require_whole(&self, all_tables: &AllTables) -> Result<(), TableError> {
        let exact = all_tables.tables(self.rules, self.pits).into_iter().flat_map(Tables::layers);
        let bounds = all_tables.bounds(self.rules, self.pits).into_iter().flat_map(BoundTables::layers);
        let exact = exact.map(|table| (table.key(), table.blocks()));
        let files = exact.chain(bounds.map(|table| (table.key(), table.blocks())));
        let mut used = files.filter(|(key, _)| key.seeds <= self.seeds as usize);
        used.try_for_each(|(_, blocks)| blocks.require_whole())
    }
}

/// A limited number of searches at a time.
pub(super) struct Searches {
    options: &'static Options,
    /// Searchers without work. The one that was busy last is at the end, and works first: it has proved results.
    idle: Mutex<Vec<Searcher<'static>>>,
    free: Semaphore,
    /// Stops all searches, which answer with what they have, and refuses further ones.
    pub stop: Cancel,
}

/// Stops a search when it is dropped, with its request.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Searches {
    pub(crate) fn new(options: &'static Options) -> Searches {
        Searches { options, idle: Mutex::default(), free: Semaphore::new(options.searches), stop: Cancel::new() }
    }

    /// Begins `work` with a free searcher, within `time`. It is cancelled as soon as the returned future is dropped or
    /// the server stops. That future returns the result of the work, or an error if it panics.
    ///
    /// # Errors
    /// If none is free for a while.
    pub(crate) async fn begin<T: Send + 'static>(
        &'static self,
        needed: NeededTables,
        time: Duration,
        work: impl FnOnce(&mut Searcher<'_>, &Cancel) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<impl Future<Output = Result<T, ApiError>> + Send, ApiError> {
        self.stop.check()?;
        // A search that its client has just given up ends soon.
        let permit = timeout(LEAVING, self.free.acquire()).await.map_err(|_| {
            let most = self.options.searches;
            ApiError::new(
                Code::Busy,
                format_args!("{most} searches are running, the maximum; repeat the request later"),
            )
        })?;
        let cancel = CancelOnDrop(self.stop.child());
        let asked = cancel.0.clone();
        let running = spawn_blocking(move || {
            let _permit = permit;
            let new = || Searcher::new(self.options.sources(), self.options.memory, self.options.threads);
            let mut searcher = self.idle.lock().pop().unwrap_or_else(new);
            let result = work(&mut searcher, &asked.within(time));
            let result = needed.require_whole(searcher.sources.all_tables).map_err(ApiError::from).and(result);
            self.idle.lock().push(searcher);
            result
        });
        Ok(async move {
            let _cancel = cancel;
            running.await.map_err(|_| ApiError::failed("a search failed unexpectedly"))?
        })
    }
}

/// State shared by all requests, which lives until the process ends.
pub(super) struct Service {
    pub options: &'static Options,
    pub searches: Searches,
}

impl Service {
    /// Reads tables and books on other threads than those that answer requests, since the disk may be slow.
    pub(crate) async fn read<T: Send + 'static>(
        &'static self,
        read: impl FnOnce(Sources<'_>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let reading = tokio::task::spawn_blocking(move || read(self.options.sources()));
        reading.await.map_err(|_| ApiError::failed("reading the tables failed unexpectedly"))?
    }

    /// Returns the time of a search: as requested, up to the limit.
    pub(crate) fn time(&self, asked: Option<Duration>) -> Duration {
        asked.unwrap_or(self.options.time).min(self.options.time)
    }
}
