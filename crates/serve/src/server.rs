//! Listening, a limited number of open connections, and stopping cleanly. When all connections are in use, those that
//! have waited a while for their clients close.

use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use kalah_api::{ApiError, MAX_HEAD};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};
use tower_http::add_extension::AddExtension;

use super::options::Options;
use super::routes::routes;
use super::searches::Searches;
use super::service::{Puzzles, Service};
use super::wire::Wire;

/// Threads that read requests and write answers.
const ANSWERING: usize = 2;

/// Threads that read tables.
const READING: usize = 8;

/// Maximum time of open requests after the server was asked to stop.
const GRACE: Duration = Duration::from_secs(10);

/// Maximum connections. There are fewer if the limit of open files would leave less than this number for tables and
/// the rest.
const MAX_CONNECTIONS: u64 = 512;
const OTHER_FILES: u64 = 64;

/// Pause after a connection could not be accepted.
const ACCEPT_AGAIN: Duration = Duration::from_secs(1);

/// Stops a server, from any thread.
#[derive(Clone, Debug)]
pub struct Stop(watch::Sender<bool>);

impl Default for Stop {
    fn default() -> Stop {
        Stop(watch::Sender::new(false))
    }
}

impl Stop {
    /// Makes the server refuse new requests, stop its searches, send their answers, and return.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

/// Answers requests that arrive at `listener` until `stop` is used.
///
/// # Errors
/// If threads or the listener fail.
pub fn serve(listener: TcpListener, options: Options, stop: &Stop) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let options = Arc::new(options);
    let searches = Searches::start(&options)?;
    let service = Arc::new(Service { options, searches, puzzles: Puzzles::default() });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(ANSWERING)
        .max_blocking_threads(READING)
        .thread_name("serve")
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let slots = Slots::new(max_connections());
        tokio::select! {
            () = answer(listener, &service, &slots, &stop.0) => {}
            () = stopped(stop.0.subscribe()) => service.searches.stop(),
        }
        // Clients whose requests have not arrived by then are dropped.
        let _ = timeout(GRACE, slots.all_free()).await;
        Ok(())
    });
    runtime.shutdown_background();
    served
}

/// Returns the maximum number of connections under the limit of open files.
fn max_connections() -> u32 {
    #[cfg(unix)]
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX);
    #[cfg(not(unix))]
    let files = u64::MAX;
    let spare = files.saturating_sub(OTHER_FILES.max(files / 4));
    u32::try_from(spare.clamp(4, MAX_CONNECTIONS)).expect("it is small")
}

/// Waits until the server is asked to stop.
async fn stopped(mut stop: watch::Receiver<bool>) {
    // It fails only without the sender, which the caller of `serve` holds.
    let _ = stop.wait_for(|&stop| stop).await;
}

/// Accepts connections.
async fn answer(listener: tokio::net::TcpListener, service: &Arc<Service>, slots: &Slots, stop: &watch::Sender<bool>) {
    let routes = routes(Arc::clone(service));
    let options = &service.options;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let slot = slots.take().await;
                let (routes, patience) = (routes.clone(), options.patience);
                let (wanted, stop) = (slots.wanted.subscribe(), stop.subscribe());
                tokio::spawn(async move {
                    converse(stream, routes, patience, wanted, stop).await;
                    drop(slot);
                });
            }
            Err(error) => {
                // The usual reason is too many open files in this process or the system, so one must be closed first.
                (options.log)(&format!("cannot accept a connection: {error}"));
                sleep(ACCEPT_AGAIN).await;
            }
        }
    }
}

/// Answers the requests on one connection until the client closes it or is too slow, the server stops, or it has
/// waited while another connection is wanted.
async fn converse(
    stream: TcpStream,
    routes: Router,
    patience: Duration,
    wanted: watch::Receiver<bool>,
    stop: watch::Receiver<bool>,
) {
    let Ok(local) = stream.local_addr() else { return };
    // An error only delays answers.
    let _ = stream.set_nodelay(true);
    let client = Client::new(local.ip());
    let service = TowerToHyperService::new(AddExtension::new(routes, client.clone()));
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(Wire::new(stream, patience)), service);
    let ended = tokio::select! {
        ended = poll_fn(|context| connection.poll_without_shutdown(context)) => ended,
        () = client.asked_to_leave(wanted) => return,
        () = stopped(stop) => {
            std::pin::Pin::new(&mut connection).graceful_shutdown();
            poll_fn(|context| connection.poll_without_shutdown(context)).await
        }
    };
    let parts = connection.into_parts();
    let wire = parts.io.into_inner();
    let error = match ended {
        Err(error) if error.is_timeout() && !parts.read_buf.is_empty() => Some(ApiError::Late),
        Err(error) if !error.is_parse() => return,
        _ => wire.refused(&parts.read_buf),
    };
    wire.end(error.as_ref()).await;
}

/// Time that a connection waits for its client before it closes in favour of another.
const UNDISTURBED: Duration = Duration::from_secs(2);

/// Slots for a number of connections.
pub(super) struct Slots {
    most: u32,
    free: Arc<Semaphore>,
    /// True while a client waits for a slot.
    pub wanted: watch::Sender<bool>,
}

impl Slots {
    pub(crate) fn new(most: u32) -> Slots {
        Slots { most, free: Arc::new(Semaphore::new(most as usize)), wanted: watch::Sender::new(false) }
    }

    /// Returns the right to one connection as soon as there is one.
    pub(crate) async fn take(&self) -> OwnedSemaphorePermit {
        self.wanted.send_replace(self.free.available_permits() == 0);
        let slot = Arc::clone(&self.free).acquire_owned().await;
        self.wanted.send_replace(false);
        slot.expect("it is never closed")
    }

    /// Waits until all slots are free.
    pub(crate) async fn all_free(&self) {
        let _ = self.free.acquire_many(self.most).await;
    }
}

/// Connection of a client.
#[derive(Clone)]
pub(super) struct Client {
    /// Address of the server on it.
    pub local: IpAddr,
    /// True while the server works on an answer. False while it waits for the client: for a request, for the rest of
    /// one, or for the client to read an answer.
    works: watch::Sender<bool>,
}

impl Client {
    pub(crate) fn new(local: IpAddr) -> Client {
        Client { local, works: watch::Sender::new(false) }
    }

    /// Marks the connection as not waiting for its client while the returned value lives.
    pub(crate) fn work(&self) -> Work {
        self.works.send_replace(true);
        Work(self.works.clone())
    }

    /// Waits until the connection must close in favour of another.
    pub(crate) async fn asked_to_leave(&self, mut wanted: watch::Receiver<bool>) {
        let mut works = self.works.subscribe();
        loop {
            let is_waiting = !*works.borrow_and_update();
            let asked = async {
                sleep(UNDISTURBED).await;
                let _ = wanted.wait_for(|&wanted| wanted).await;
            };
            tokio::select! {
                () = asked, if is_waiting => return,
                _ = works.changed() => {}
            }
        }
    }
}

/// Request that is being answered.
pub(super) struct Work(watch::Sender<bool>);

impl Drop for Work {
    fn drop(&mut self) {
        self.0.send_replace(false);
    }
}
