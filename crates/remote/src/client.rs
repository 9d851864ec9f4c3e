use std::fmt::Display;
use std::io::Read;
use std::ops::Range;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use kalah_core::cancel::{Cancel, Stopped};
use parking_lot::Mutex;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use super::address::Address;
use super::error::RemoteError;
use super::store::{FetchedBytes, Store};

/// Limit for a connection, for the head of an answer, and for each read of its body.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes that are read together, at most.
const PIECE: u64 = 1 << 16;

/// Pieces received that wait to be taken.
const PIECES: usize = 4;

/// Interval at which a wait looks whether it should end.
const TICK: Duration = Duration::from_millis(50);

/// Tries of a request in a row without a byte.
const TRIES: u32 = 5;

/// Wait before the second try; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(200);

/// End of a range that has no end: all bytes from its start on.
pub(crate) const NO_END: u64 = u64::MAX;

/// The files at an address, requested over HTTP with pooled connections and the proxies of the environment
/// (`HTTPS_PROXY`, `NO_PROXY`). Each request has a thread of its own, so that the wait for it can end at any time.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) address: Address,
    agent: Agent,
    /// Ends all waits for the server.
    cancel: Cancel,
    /// Ends the waits of now. It is a child of `cancel`.
    now: Arc<Mutex<Cancel>>,
}

impl Client {
    /// Makes a client for the files at an address, whose waits end with `cancel`.
    pub(crate) fn new(address: &Address, cancel: &Cancel) -> Client {
        // Fails if another part of the program has chosen already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A system without certificates trusts no server, as the error of a request states.
        let roots = rustls_native_certs::load_native_certs().certs;
        let roots: Vec<_> = roots.iter().map(|root| Certificate::from_der(root).to_owned()).collect();
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .tls_config(TlsConfig::builder().root_certs(RootCerts::from(roots)).build())
            .user_agent(concat!("kalah/", env!("CARGO_PKG_VERSION")))
            .max_idle_connections(32)
            .max_idle_connections_per_host(32)
            .timeout_connect(Some(PATIENCE))
            .timeout_recv_response(Some(PATIENCE))
            .timeout_per_read(Some(PATIENCE))
            .build()
            .into();
        let now = Arc::new(Mutex::new(cancel.child()));
        Client { address: address.clone(), agent, cancel: cancel.clone(), now }
    }

    /// Receives the bytes of `range` of the file `name`, or up to the end of a shorter file, which `take` gets. Returns
    /// the bytes of the whole file. A request that fails for a passing reason is repeated from where it was.
    pub(crate) fn receive(
        &self,
        name: &str,
        mut range: Range<u64>,
        fresh: bool,
        mut take: impl FnMut(&[u8]) -> Result<(), RemoteError>,
    ) -> Result<u64, RemoteError> {
        let (client, name, cancel) = (self.clone(), name.to_owned(), self.now.lock().clone());
        let (to, from) = sync_channel(PIECES);
        let request = move || {
            let mut tries = 0;
            loop {
                let start = range.start;
                match client.request(&name, &mut range, fresh, &to) {
                    Err(RemoteError::Broken(_)) if tries + 1 < TRIES || range.start > start => {}
                    done => return done,
                }
                tries = if range.start > start { 1 } else { tries + 1 };
                thread::sleep(FIRST_WAIT * 2u32.pow(tries - 1));
            }
        };
        let started = thread::Builder::new().name("request".to_owned()).spawn(request);
        let started = started.map_err(|error| RemoteError::Store(error.into()))?;
        loop {
            cancel.check()?;
            match from.recv_timeout(TICK) {
                Ok(bytes) => take(&bytes)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return started.join().unwrap_or_else(|panic| resume_unwind(panic));
                }
            }
        }
    }

    /// Sends one request for these bytes of a file. Sends on those that come, and moves the start of `range` beyond
    /// them. `fresh` bypasses caches on the way. Returns the bytes of the whole file.
    fn request(
        &self,
        name: &str,
        range: &mut Range<u64>,
        fresh: bool,
        to: &SyncSender<Vec<u8>>,
    ) -> Result<u64, RemoteError> {
        let last = if range.end == NO_END { String::new() } else { (range.end - 1).to_string() };
        let mut request = self.agent.get(self.address.file(name)).header("accept-encoding", "identity");
        request = request.header("range", format!("bytes={}-{last}", range.start));
        if fresh {
            request = request.header("cache-control", "no-cache");
        }
        let answer = request.call().map_err(no_answer)?;
        let header = |name| answer.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let status = answer.status().as_u16();
        let total = match status {
            206 => content_range(header("content-range"), range)
                .ok_or_else(|| RemoteError::Broken("the server sent other bytes than those requested".to_owned()))?,
            // Some servers send a whole file without a range.
            200 => {
                header("content-length").parse().ok().filter(|&total| range.start == 0 && total <= range.end).ok_or(
                    RemoteError::Store("the server cannot send parts of files: it ignores range requests".into()),
                )?
            }
            // All bytes were received before.
            416 if range.end == NO_END && range.start > 0 => return Ok(range.start),
            // Some servers refuse access to files that do not exist.
            403 | 404 | 410 => {
                let refused = format!("the server does not have it, or refuses access (status {status})");
                return Err(RemoteError::NotFound(refused.into()));
            }
            408 | 425 | 429 | 500 | 502..=504 => {
                return Err(RemoteError::Broken(format!("the server answered with status {status}")));
            }
            _ => return Err(RemoteError::Store(format!("the server answered with status {status}").into())),
        };
        let end = range.end.min(total);
        let mut body = answer.into_body().into_reader();
        while range.start < end {
            let mut piece = vec![0; PIECE.min(end - range.start) as usize];
            let read = body.read(&mut piece).map_err(no_answer)?;
            if read == 0 {
                return Err(no_answer("the connection ended early"));
            }
            piece.truncate(read);
            to.send(piece).map_err(|_| Stopped)?;
            range.start += read as u64;
        }
        Ok(total)
    }
}

/// Reads `bytes 0-99/1234`: the bytes of the whole file, if the range is the one that was requested.
fn content_range(text: &str, range: &Range<u64>) -> Option<u64> {
    let (last, total) = text.strip_prefix(&format!("bytes {}-", range.start))?.split_once('/')?;
    let total = total.parse().ok()?;
    (last.parse::<u64>().ok()?.checked_add(1)? == range.end.min(total)).then_some(total)
}

impl Store for Client {
    fn address(&self) -> &Path {
        Path::new(&self.address.shown)
    }

    fn identity(&self) -> String {
        self.address.base.clone()
    }

    fn range(&self, name: &str, range: Range<u64>, fresh: bool) -> Result<FetchedBytes, RemoteError> {
        let mut bytes = Vec::new();
        let total = self.receive(name, range, fresh, |new| {
            bytes.extend_from_slice(new);
            Ok(())
        })?;
        Ok(FetchedBytes { bytes, total })
    }

    fn interrupt(&self) {
        std::mem::replace(&mut *self.now.lock(), self.cancel.child()).cancel();
    }
}

/// The error of a request without an answer, or of a broken connection.
fn no_answer(error: impl Display) -> RemoteError {
    RemoteError::Broken(format!("no answer from the server: {error}"))
}
