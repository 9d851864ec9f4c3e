use std::io;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::api::Service;
use super::mind::MindOptions;
use super::routes::routes;
use super::searches::Searches;
use crate::table::Shelf;

/// Threads that read requests and write answers.
const ANSWERING: usize = 2;

/// Threads that read tables.
const READING: usize = 8;

/// How long requests under way may take once the server was told to stop.
const GRACE: Duration = Duration::from_secs(10);

/// How to serve.
pub struct Options {
    /// The directory of the tables; it may be empty.
    pub tables: PathBuf,
    /// The most time of a search.
    pub time: Duration,
    /// The most searches under way, at least 1; what is asked beyond is refused with status 503.
    pub searches: usize,
    /// Threads of one search, at least 1.
    pub threads: usize,
    /// The most bytes of the transposition table of one search.
    pub memory: u64,
    /// Told of failures that are not a client's, in a line each.
    pub log: Box<dyn Fn(&str) + Send + Sync>,
}

/// Stops a server, from any thread.
#[derive(Clone, Debug)]
pub struct Stop(watch::Sender<bool>);

impl Default for Stop {
    fn default() -> Stop {
        Stop(watch::Sender::new(false))
    }
}

impl Stop {
    /// Has the server take no more requests, end its searches with what they have, answer, and return.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

/// Answers requests that arrive at `listener` until `stop` says so.
///
/// # Errors
/// When threads or the listener fail.
pub fn serve(listener: TcpListener, options: Options, stop: &Stop) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let shelf = Arc::new(Shelf::new(options.tables));
    let search = MindOptions { memory: options.memory, threads: options.threads.max(1) };
    let search_count = options.searches.max(1);
    let searches = Searches::start(search_count, &shelf, search, stop.0.subscribe())?;
    let service = Arc::new(Service { shelf, searches, time: options.time, search_count, log: options.log });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(ANSWERING)
        .max_blocking_threads(READING)
        .enable_all()
        .build()?;
    let told = || {
        let mut stopping = stop.0.subscribe();
        async move {
            // An error would say that there is nobody left to stop the server; but `stop` is.
            let _ = stopping.wait_for(|&stopping| stopping).await;
        }
    };
    let served = runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let answering = axum::serve(listener, routes(service)).with_graceful_shutdown(told());
        let late = async {
            told().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            served = answering => served,
            // Who has not sent his request by now does not hold us up.
            () = late => Ok(()),
        }
    });
    runtime.shutdown_background();
    served
}
