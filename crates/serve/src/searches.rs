use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use kalah_core::cancel::Cancel;
use kalah_core::game::{Position, Rules};
use kalah_solve::book::Books;
use kalah_tables::table::{Shelf, TableError};
use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};

use super::ApiError;
use super::searcher::{SearchOptions, Searcher};

/// What is left to do when a search is over and its thread is free again: sending the answer.
type Reply = Box<dyn FnOnce() + Send>;

type Job = Box<dyn FnOnce(&mut Searcher<'_>) -> Reply + Send>;

/// What a searcher keeps its proofs for: rules and pits a side.
type BoardKey = (Rules, usize);

/// What a search reads of the tables: those of a board, and of at most so many seeds.
#[derive(Clone, Copy)]
pub(super) struct Reads {
    pub board: BoardKey,
    pub seeds: u32,
}

impl Reads {
    /// What a search of `position` reads.
    pub fn of(rules: Rules, position: &Position) -> Reads {
        Reads { board: (rules, position.pits()), seeds: position.seeds() }
    }

    /// Checks that none of these tables became shorter while they were read.
    pub fn require_whole(&self, shelf: &Shelf) -> Result<(), TableError> {
        let (rules, pits) = self.board;
        shelf.require_whole(rules, pits, self.seeds as usize)
    }
}

/// Threads that search, one search at a time each. What a thread proved of a board it keeps until it is asked for another.
pub(super) struct Searches {
    threads: Vec<mpsc::Sender<Job>>,
    idle: Arc<Mutex<Vec<Idle>>>,
    stopping: watch::Receiver<bool>,
}

/// A thread without work, and what it searched last.
struct Idle {
    thread: usize,
    last: Option<BoardKey>,
}

/// Ends a search when it is dropped: with its request.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Searches {
    /// Starts `count` threads.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn start(
        count: usize,
        shelf: &Arc<Shelf>,
        books: &Arc<Books>,
        options: SearchOptions,
        stopping: watch::Receiver<bool>,
    ) -> std::io::Result<Searches> {
        let idle = Arc::new(Mutex::new((0..count).map(|thread| Idle { thread, last: None }).collect()));
        let mut threads = Vec::new();
        for _ in 0..count {
            let (sender, jobs) = mpsc::channel::<Job>();
            let (shelf, books) = (Arc::clone(shelf), Arc::clone(books));
            thread::Builder::new().name("search".to_owned()).spawn(move || {
                let mut searcher = Searcher::new(&shelf, &books, options);
                for job in jobs {
                    match catch_unwind(AssertUnwindSafe(|| job(&mut searcher))) {
                        Ok(reply) => reply(),
                        // What it knew may be half-done.
                        Err(_) => searcher = Searcher::new(&shelf, &books, options),
                    }
                }
            })?;
            threads.push(sender);
        }
        Ok(Searches { threads, idle, stopping })
    }

    /// Does `work` on a thread that is free, within `time`. It is cancelled as soon as the returned future is
    /// dropped, or
    /// the server stops.
    ///
    /// # Errors
    /// At once when no thread is free; also when the work fails.
    pub async fn run<T: Send + 'static>(
        &self,
        reads: Reads,
        time: Duration,
        work: impl FnOnce(&mut Searcher<'_>, &Cancel) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        self.begin(reads, time, work)?.result().await
    }

    /// As [`Searches::run`], but returns once the work has begun.
    ///
    /// # Errors
    /// When no thread is free.
    pub fn begin<T: Send + 'static>(
        &self,
        reads: Reads,
        time: Duration,
        work: impl FnOnce(&mut Searcher<'_>, &Cancel) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<Running<T>, ApiError> {
        if self.is_stopping() {
            return Err(ApiError::Stopping);
        }
        let thread = self.take(reads.board).ok_or(ApiError::Busy(self.threads.len()))?;
        let cancel = CancelOnDrop(Cancel::new());
        let asked = cancel.0.clone();
        // Also when the work panics.
        let back = Back { idle: Arc::clone(&self.idle), thread, last: reads.board };
        let (sender, result) = oneshot::channel();
        let job: Job = Box::new(move |searcher| {
            let back = back;
            let shelf = searcher.shelf();
            let whole = || reads.require_whole(shelf).map_err(ApiError::from);
            let mut result = whole().and_then(|()| work(searcher, &asked.within(time)));
            if let Err(error) = whole() {
                // What it proved may rest on what was lost.
                searcher.forget();
                result = Err(error);
            }
            // Free before the answer is sent: who has it may ask the next question.
            drop(back);
            Box::new(move || drop(sender.send(result)))
        });
        self.threads[thread].send(job).map_err(|_| broken())?;
        Ok(Running { result, cancel, stopping: self.stopping.clone() })
    }

    /// Whether the server is being stopped.
    pub fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// A free thread, if there is one: the one that searched the board last if there is a choice.
    fn take(&self, game: BoardKey) -> Option<usize> {
        let mut idle = self.idle.lock();
        let knows = idle.iter().position(|idle| idle.last == Some(game));
        let any = idle.iter().position(|idle| idle.last.is_none()).or_else(|| idle.len().checked_sub(1));
        knows.or(any).map(|index| idle.remove(index).thread)
    }
}

fn broken() -> ApiError {
    ApiError::Failed("a search broke down".to_owned())
}

/// Work under way. It is cancelled as soon as this is dropped, or the server stops.
pub(super) struct Running<T> {
    result: oneshot::Receiver<Result<T, ApiError>>,
    cancel: CancelOnDrop,
    stopping: watch::Receiver<bool>,
}

impl<T> Running<T> {
    /// What the work leads to.
    ///
    /// # Errors
    /// Those of the work, and when it breaks down.
    pub async fn result(self) -> Result<T, ApiError> {
        let Running { mut result, cancel, mut stopping } = self;
        tokio::select! {
            result = &mut result => return result.map_err(|_| broken())?,
            _ = stopping.wait_for(|&stopping| stopping) => drop(cancel),
        }
        result.await.map_err(|_| broken())?
    }
}

/// Gives a thread back when it is dropped.
struct Back {
    idle: Arc<Mutex<Vec<Idle>>>,
    thread: usize,
    last: BoardKey,
}

impl Drop for Back {
    fn drop(&mut self) {
        self.idle.lock().push(Idle { thread: self.thread, last: Some(self.last) });
    }
}
