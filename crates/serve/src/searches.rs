use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use kalah_api::{ApiError, SearchOptions, Searcher};
use kalah_core::cancel::Cancel;
use kalah_core::game::{Position, Rules};
use kalah_core::table::{AllTables, BoundTables, TableError, Tables};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::options::Options;

/// Time in which the thread of a search that was given up becomes free.
const LEAVING: Duration = Duration::from_millis(200);

type Job = Box<dyn FnOnce(&mut Searcher<'_>) + Send>;

/// Board for which a searcher keeps its proved results: rules and pits a side.
type BoardKey = (Rules, usize);

/// Tables that a search reads: those of a board, up to a number of seeds.
#[derive(Clone, Copy)]
pub(super) struct NeededTables {
    pub board: BoardKey,
    pub seeds: u32,
}

impl NeededTables {
    /// Returns the tables that a search of `position` reads.
    pub(crate) fn of(rules: Rules, position: &Position) -> NeededTables {
        NeededTables { board: (rules, position.pits()), seeds: position.seeds() }
    }

    /// Returns an error if one of these tables became shorter while a search used it. Look-ups find that themselves.
    fn require_whole(&self, all_tables: &AllTables) -> Result<(), TableError> {
        let (rules, pits) = self.board;
        let exact = all_tables.tables(rules, pits).into_iter().flat_map(Tables::layers);
        let bounds = all_tables.bounds(rules, pits).into_iter().flat_map(BoundTables::layers);
        let exact = exact.map(|table| (table.key(), table.blocks()));
        let files = exact.chain(bounds.map(|table| (table.key(), table.blocks())));
        let mut used = files.filter(|(key, _)| key.seeds <= self.seeds as usize);
        used.try_for_each(|(_, blocks)| blocks.require_whole())
    }
}

/// Threads that run one search at a time each. A thread keeps the proved results of a board until it searches another
/// one.
pub(super) struct Searches {
    threads: Vec<mpsc::Sender<Job>>,
    idle: Arc<Mutex<Vec<Idle>>>,
    /// Stops all of them.
    stop: Cancel,
}

/// Thread without work, and its last board.
struct Idle {
    thread: usize,
    last: Option<BoardKey>,
}

/// Stops a search when it is dropped, with its request.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Searches {
    /// Starts the threads.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub(crate) fn start(options: &Arc<Options>) -> std::io::Result<Searches> {
        let count = options.searches.max(1);
        let idle = Arc::new(Mutex::new((0..count).map(|thread| Idle { thread, last: None }).collect()));
        let mut threads = Vec::new();
        for _ in 0..count {
            let (sender, jobs) = mpsc::channel::<Job>();
            let options = Arc::clone(options);
            thread::Builder::new().name("search".to_owned()).spawn(move || {
                let limits = SearchOptions { memory: options.memory, threads: options.threads.max(1) };
                let mut searcher = Searcher::new(options.sources(), limits);
                for job in jobs {
                    if catch_unwind(AssertUnwindSafe(|| job(&mut searcher))).is_err() {
                        // Its results may be incomplete.
                        searcher.forget();
                    }
                }
            })?;
            threads.push(sender);
        }
        Ok(Searches { threads, idle, stop: Cancel::new() })
    }

    /// Does `work` on a free thread, within `time`. The work is cancelled as soon as the returned future is dropped
    /// or the server stops.
    ///
    /// # Errors
    /// If no thread is free for a while; also if the work fails.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        needed: NeededTables,
        time: Duration,
        work: impl FnOnce(&mut Searcher<'_>, &Cancel) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        self.begin(needed, time, work).await?.result().await
    }

    /// Starts work as [`Searches::run`] does, but returns once the work has begun.
    ///
    /// # Errors
    /// If no thread is free for a while.
    pub(crate) async fn begin<T: Send + 'static>(
        &self,
        needed: NeededTables,
        time: Duration,
        work: impl FnOnce(&mut Searcher<'_>, &Cancel) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<Running<T>, ApiError> {
        if self.is_stopping() {
            return Err(ApiError::Stopping);
        }
        let thread = self.take_soon(needed.board).await.ok_or(ApiError::Busy(self.count()))?;
        let cancel = CancelOnDrop(self.stop.child());
        let asked = cancel.0.clone();
        // Even if the work panics.
        let idle_again = IdleOnDrop { idle: Arc::clone(&self.idle), thread, last: needed.board };
        let (sender, result) = oneshot::channel();
        let job: Job = Box::new(move |searcher| {
            let idle_again = idle_again;
            let all_tables = searcher.sources().all_tables;
            let result = work(searcher, &asked.within(time));
            let result = needed.require_whole(all_tables).map_err(ApiError::from).and(result);
            // The thread is freed before the answer is sent, since the client may send its next request at once.
            drop(idle_again);
            let _ = sender.send(result);
        });
        self.threads[thread].send(job).map_err(|_| broken())?;
        Ok(Running { result, _cancel: cancel })
    }

    /// Stops all searches, which answer with what they have, and refuses further ones.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// Number of searches at a time.
    pub(crate) fn count(&self) -> usize {
        self.threads.len()
    }

    /// Returns true if the server is stopping.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Returns a free thread. If all are in use, waits a moment for a search that its client has just given up.
    async fn take_soon(&self, game: BoardKey) -> Option<usize> {
        let start = Instant::now();
        loop {
            let thread = self.take(game);
            if thread.is_some() || start.elapsed() > LEAVING {
                return thread;
            }
            tokio::time::sleep(LEAVING / 20).await;
        }
    }

    /// Returns a free thread, preferably the one that searched this board last.
    fn take(&self, game: BoardKey) -> Option<usize> {
        let mut idle = self.idle.lock();
        let same = idle.iter().position(|idle| idle.last == Some(game));
        let any = idle.iter().position(|idle| idle.last.is_none()).or_else(|| idle.len().checked_sub(1));
        same.or(any).map(|index| idle.remove(index).thread)
    }
}

fn broken() -> ApiError {
    ApiError::Failed("a search failed unexpectedly".to_owned())
}

/// Running work. It is cancelled as soon as this is dropped or the server stops.
pub(super) struct Running<T> {
    result: oneshot::Receiver<Result<T, ApiError>>,
    _cancel: CancelOnDrop,
}

impl<T> Running<T> {
    /// Waits for the result of the work.
    ///
    /// # Errors
    /// Those of the work, and an error if it panics.
    pub(crate) async fn result(self) -> Result<T, ApiError> {
        let Running { result, _cancel } = self;
        result.await.map_err(|_| broken())?
    }
}

/// Gives a thread back when it is dropped.
struct IdleOnDrop {
    idle: Arc<Mutex<Vec<Idle>>>,
    thread: usize,
    last: BoardKey,
}

impl Drop for IdleOnDrop {
    fn drop(&mut self) {
        self.idle.lock().push(Idle { thread: self.thread, last: Some(self.last) });
    }
}
