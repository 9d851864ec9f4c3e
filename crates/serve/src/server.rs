//! Listening, and stopping cleanly.

use std::future::poll_fn;
use std::io;
use std::net::TcpListener;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutStream;
use tower_http::add_extension::AddExtension;

use super::options::Options;
use super::routes::routes;
use super::searches::Searches;
use super::searches::Service;

/// Threads that read requests and write answers.
const ANSWERING: usize = 2;

/// Threads that read tables.
const READING: usize = 8;

/// Maximum time of open requests after the server was asked to stop.
const GRACE: Duration = Duration::from_secs(10);

/// Maximum connections, half as many as the files that most systems allow a process to open.
const MAX_CONNECTIONS: u32 = 512;

/// Pause after a connection could not be accepted.
const ACCEPT_AGAIN: Duration = Duration::from_secs(1);

/// Maximum bytes of a request's head.
const MAX_HEAD: usize = 128 << 10;

/// Limits of time and bytes for reading a connection after the last answer. Closing it with unread bytes resets it,
/// and the client may lose an answer that it has not read yet, such as the refusal of a long body.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: u64 = 4 << 20;

/// Stops a server, from any thread.
#[derive(Clone, Debug, Default)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    /// Makes the server refuse new requests, stop its searches, send their answers, and return.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

/// Answers requests that arrive at `listener` until `stop` is used. The memory of `options` is never freed.
///
/// # Errors
/// If threads or the listener fail.
pub fn serve(listener: TcpListener, options: Options, stop: &Stop) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let options: &Options = Box::leak(Box::new(options));
    let service: &Service = Box::leak(Box::new(Service { options, searches: Searches::new(options) }));
    let slots: &Semaphore = Box::leak(Box::new(Semaphore::new(MAX_CONNECTIONS as usize)));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(ANSWERING)
        .max_blocking_threads(READING + options.searches)
        .thread_name("serve")
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        tokio::select! {
            () = answer(listener, service, slots, &stop.0) => {}
            () = stopped(stop.0.subscribe()) => service.searches.stop.cancel(),
        }
        // Clients whose requests have not arrived by then are dropped.
        let _ = timeout(GRACE, slots.acquire_many(MAX_CONNECTIONS)).await;
        Ok(())
    });
    runtime.shutdown_background();
    served
}

/// Waits until the server is asked to stop.
async fn stopped(mut stop: watch::Receiver<bool>) {
    // It fails only without the sender, which the caller of `serve` holds.
    let _ = stop.wait_for(|&stop| stop).await;
}

/// Accepts connections.
async fn answer(
    listener: tokio::net::TcpListener,
    service: &'static Service,
    slots: &'static Semaphore,
    stop: &watch::Sender<bool>,
) {
    let routes = routes(service);
    let options = service.options;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let slot = slots.acquire().await;
                let (routes, patience, stop) = (routes.clone(), options.patience, stop.subscribe());
                tokio::spawn(async move {
                    converse(stream, routes, patience, stop).await;
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

/// Answers the requests on one connection until the client closes it or is too slow, or the server stops.
async fn converse(stream: TcpStream, routes: Router, patience: Duration, stop: watch::Receiver<bool>) {
    let Ok(local) = stream.local_addr() else { return };
    // An error only delays answers.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(patience));
    let service = TowerToHyperService::new(AddExtension::new(routes, local.ip()));
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(Box::pin(stream)), service);
    let ended = tokio::select! {
        ended = poll_fn(|context| connection.poll_without_shutdown(context)) => ended,
        () = stopped(stop) => {
            std::pin::Pin::new(&mut connection).graceful_shutdown();
            poll_fn(|context| connection.poll_without_shutdown(context)).await
        }
    };
    if ended.is_err_and(|error| !error.is_parse()) {
        return;
    }
    let mut stream = connection.into_parts().io.into_inner();
    let closed = async {
        stream.shutdown().await?;
        tokio::io::copy(&mut stream.take(LINGER_BYTES), &mut tokio::io::sink()).await
    };
    let _ = timeout(LINGER, closed).await;
}
