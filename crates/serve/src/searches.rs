use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use kalah_api::{ApiError, Code, SearchOptions, Searcher};
use kalah_core::cancel::Cancel;
use kalah_core::game::{Position, Rules};
use kalah_core::table::{AllTables, BoundTables, TableError, Tables};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
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

/// Work of a thread. It keeps its permit until the work is done.
struct Job {
    work: Box<dyn FnOnce(&mut Searcher<'_>) + Send>,
    permit: OwnedSemaphorePermit,
}

/// Threads that run one search at a time each. A thread keeps the proved results of its last board.
pub(super) struct Searches {
    threads: Vec<mpsc::Sender<Job>>,
    /// Threads without work. The one that was busy last is at the end, and works first.
    idle: Arc<Mutex<Vec<usize>>>,
    /// A permit for each of them.
    free: Arc<Semaphore>,
    /// Stops all of them.
    stop: Cancel,
}

/// Stops a search when it is dropped, with its request.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Running work. It is cancelled as soon as this is dropped.
type Running<T> = Pin<Box<dyn Future<Output = Result<T, ApiError>> + Send>>;

impl Searches {
    /// Starts the threads.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub(crate) fn start(options: &Arc<Options>) -> std::io::Result<Searches> {
        let count = options.searches.max(1);
        let idle = Arc::new(Mutex::new((0..count).collect::<Vec<usize>>()));
        let mut threads = Vec::new();
        for thread in 0..count {
            let (sender, jobs) = mpsc::channel::<Job>();
            let (options, idle) = (Arc::clone(options), Arc::clone(&idle));
            thread::Builder::new().name("search".to_owned()).spawn(move || {
                let limits = SearchOptions { memory: options.memory, threads: options.threads.max(1) };
                let mut searcher = Searcher::new(options.sources(), limits);
                for Job { work, permit } in jobs {
                    if catch_unwind(AssertUnwindSafe(|| work(&mut searcher))).is_err() {
                        // Its results may be incomplete.
                        searcher.forget();
                    }
                    idle.lock().push(thread);
                    drop(permit);
                }
            })?;
            threads.push(sender);
        }
        Ok(Searches { threads, idle, free: Arc::new(Semaphore::new(count)), stop: Cancel::new() })
    }

    /// Begins `work` on a free thread, within `time`. It is cancelled as soon as the returned future is dropped or the
    /// server stops. That future returns the result of the work, or an error if it panics.
    ///
    /// # Errors
    /// If no thread is free for a while.
    pub(crate) async fn begin<T: Send + 'static>(
        &self,
        needed: NeededTables,
        time: Duration,
        work: impl FnOnce(&mut Searcher<'_>, &Cancel) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<Running<T>, ApiError> {
        self.stop.check()?;
        // A search that its client has just given up ends soon.
        let permit = timeout(LEAVING, Arc::clone(&self.free).acquire_owned()).await.map_err(|_| {
            let why = format!("the server runs {} searches, its maximum; repeat the request in a second", self.count());
            ApiError::new(Code::Busy, why)
        })?;
        let permit = permit.expect("it is never closed");
        let cancel = CancelOnDrop(self.stop.child());
        let asked = cancel.0.clone();
        let (sender, result) = oneshot::channel();
        let work = Box::new(move |searcher: &mut Searcher<'_>| {
            let all_tables = searcher.sources.all_tables;
            let result = work(searcher, &asked.within(time));
            let _ = sender.send(needed.require_whole(all_tables).map_err(ApiError::from).and(result));
        });
        let broken = || ApiError::failed("a search failed unexpectedly");
        let thread = self.idle.lock().pop().expect("there is a permit for it");
        self.threads[thread].send(Job { work, permit }).map_err(|_| broken())?;
        Ok(Box::pin(async move {
            let _cancel = cancel;
            result.await.map_err(|_| broken())?
        }))
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
}
