use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use kalah_core::cancel::Cancel;
use parking_lot::Mutex;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, BodyReader};

use super::address::Address;
use super::answer::{Head, broken};
use super::error::RemoteError;
use super::store::{FetchedBytes, Store};

/// Limit for establishing a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// Bytes a second that an answer must have in all. Sixteen requests may share a slow line.
const SLOWEST: u64 = 4 << 10;

/// Bytes of a part that count as progress. A server could send it byte by byte otherwise.
const PROGRESS: u64 = 4 << 10;

/// Bytes that are read together, at most.
const PIECE: usize = 1 << 16;

/// Interval at which a wait looks whether it should end.
const TICK: Duration = Duration::from_millis(50);

/// Tries of a request in a row without progress.
const TRIES: u32 = 5;

/// Wait before the second try; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(200);

/// End of a range that has no end: all bytes from its start on.
const NO_END: u64 = u64::MAX;

/// The files at an address. Each request has a thread of its own, so that the wait for it can end at any time.
#[derive(Debug)]
pub(crate) struct Client {
    server: Arc<Server>,
    /// Ends all waits for the server.
    cancel: Cancel,
    /// Ends the waits of now. It is a child of `cancel`.
    now: Mutex<Cancel>,
}

/// The files at an address, requested over HTTP with pooled connections. Requests that fail for a passing reason are
/// repeated, each after a longer wait. The proxies of the environment (`HTTPS_PROXY`, `NO_PROXY`) are used.
#[derive(Debug)]
struct Server {
    address: Address,
    agent: Agent,
    /// Limit for the head of an answer, and for each read of its body.
    patience: Duration,
}

/// Gets the bytes of a file, in order.
type Take<'t> = dyn FnMut(&[u8]) -> Result<(), RemoteError> + 't;

impl Client {
    /// Makes a client for the files at an address. The server may be silent for as long as `patience`, and all waits
    /// end with `cancel`.
    pub(crate) fn new(address: &Address, patience: Duration, cancel: &Cancel) -> Client {
        // Fails if another part of the program has chosen already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A system without certificates trusts no server, as the error of a request states.
        let roots = rustls_native_certs::load_native_certs().certs;
        let roots: Vec<_> = roots.iter().map(|root| Certificate::from_der(root).to_owned()).collect();
        let tls = TlsConfig::builder().root_certs(RootCerts::from(roots)).build();
        let agent = Agent::config_builder()
            // A signature is for one server.
            .max_redirects(if address.signer.is_some() { 0 } else { 10 })
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .tls_config(tls)
            .user_agent(concat!("kalah/", env!("CARGO_PKG_VERSION")))
            .max_idle_connections(32)
            .max_idle_connections_per_host(32)
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(patience))
            .timeout_per_read(Some(patience))
            .build()
            .into();
        let server = Arc::new(Server { address: address.clone(), agent, patience });
        Client { server, cancel: cancel.clone(), now: Mutex::new(cancel.child()) }
    }

    /// Bytes of the whole file `name`; 0 if the server does not state them.
    ///
    /// # Errors
    /// As [`Store::range`].
    pub(crate) fn total(&self, name: String) -> Result<u64, RemoteError> {
        self.apart(move |server, cancel| {
            // The body of a server without ranges is not read.
            let head = || (false, server.request(&name, &(0..1), false).map(|(head, _)| head));
            Ok(repeated(cancel, head)?.total.unwrap_or(0))
        })
    }

    /// Receives the bytes of the file `name` from `start` on, which `take` gets.
    ///
    /// # Errors
    /// As [`Store::range`], and those of `take`.
    pub(crate) fn receive(
        &self,
        name: String,
        start: u64,
        mut take: impl FnMut(&[u8]) -> Result<(), RemoteError> + Send + 'static,
    ) -> Result<(), RemoteError> {
        self.apart(move |server, cancel| server.receive(&name, start..NO_END, false, cancel, &mut take).map(drop))
    }

    /// Does `work` in a thread of its own.
    fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Server, &Cancel) -> Result<T, RemoteError> + Send + 'static,
    ) -> Result<T, RemoteError> {
        let (server, cancel, (to, done)) = (Arc::clone(&self.server), self.now.lock().clone(), sync_channel(1));
        let of_thread = cancel.clone();
        let started = thread::Builder::new().name("request".to_owned()).spawn(move || {
            // Nobody may wait for it any more.
            let _ = to.send(work(&server, &of_thread));
        });
        started.map_err(|error| RemoteError::Connection(error.to_string()))?;
        loop {
            match done.recv_timeout(TICK) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Timeout) => cancel.check()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(RemoteError::Connection("the request ended early".to_owned()));
                }
            }
        }
    }
}

impl Store for Client {
    fn address(&self) -> &Path {
        Path::new(&self.server.address.shown)
    }

    fn identity(&self) -> String {
        self.server.address.base.clone()
    }

    fn range(&self, name: &str, range: Range<u64>, fresh: bool) -> Result<FetchedBytes, RemoteError> {
        let name = name.to_owned();
        self.apart(move |server, cancel| {
            let mut bytes = Vec::new();
            let mut take = |new: &[u8]| {
                bytes.extend_from_slice(new);
                Ok(())
            };
            let (total, tag) = server.receive(&name, range, fresh, cancel, &mut take)?;
            Ok(FetchedBytes { bytes, total, tag })
        })
    }

    fn interrupt(&self) {
        std::mem::replace(&mut *self.now.lock(), self.cancel.child()).cancel();
    }
}

impl Server {
    /// Sends one request for these bytes of a file. `fresh` bypasses caches on the way. Returns head and body.
    fn request(&self, name: &str, range: &Range<u64>, fresh: bool) -> Result<(Head, BodyReader<'static>), RemoteError> {
        let (url, signer) = (self.address.file(name), self.address.signer.as_ref());
        let mut request = self.agent.get(&url).header("accept-encoding", "identity");
        let last = if range.end == NO_END { String::new() } else { (range.end - 1).to_string() };
        let asked = (*range != (0..NO_END)).then(|| format!("bytes={}-{last}", range.start));
        if let Some(asked) = &asked {
            request = request.header("range", asked);
        }
        if let Some(signer) = signer {
            let headers = signer.headers(&url, asked.as_deref(), SystemTime::now());
            request = headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
        }
        if fresh {
            request = request.header("cache-control", "no-cache");
        }
        let answer = request.call().map_err(broken)?;
        let head = Head::of(&answer, range, signer.is_some())?;
        Ok((head, answer.into_body().into_reader()))
    }

    /// Receives the bytes of `range` of the file `name`, or up to the end of a shorter file, which `take` gets. After a
    /// broken connection it goes on where it was. Returns the bytes of the whole file, and the tag of its version.
    ///
    /// # Errors
    /// When the server does not send them, even after several tries, or too slowly; when `cancel` is cancelled; those
    /// of `take`.
    fn receive(
        &self,
        name: &str,
        mut range: Range<u64>,
        fresh: bool,
        cancel: &Cancel,
        take: &mut Take<'_>,
    ) -> Result<(u64, Option<String>), RemoteError> {
        // A download keeps each byte.
        let progress = if range.end == NO_END { 1 } else { PROGRESS };
        repeated(cancel, || {
            let start = range.start;
            let received = self.more(name, &mut range, fresh, cancel, take);
            (range.start >= start + progress, received)
        })
    }

    /// Receives bytes of one answer, as [`Server::receive`] does, and moves the start of `range` beyond them.
    fn more(
        &self,
        name: &str,
        range: &mut Range<u64>,
        fresh: bool,
        cancel: &Cancel,
        take: &mut Take<'_>,
    ) -> Result<(u64, Option<String>), RemoteError> {
        let (head, mut body) = match self.request(name, range, fresh) {
            // All bytes were received before.
            Err(RemoteError::Status { status: 416, .. }) if range.end == NO_END && range.start > 0 => {
                return Ok((range.start, None));
            }
            answer => answer?,
        };
        let (stated, bytes) = (head.bytes.is_some(), head.bytes.unwrap_or(NO_END));
        // A server that ignores ranges may still send a file as small as the part.
        if bytes > range.end {
            return Err(RemoteError::NoRanges);
        }
        let (begun, limit) = (Instant::now(), self.patience + Duration::from_secs(bytes / SLOWEST));
        let (mut skip, mut received, mut piece) = (head.skip as usize, 0, vec![0; PIECE]);
        // To the end of the body, so that its connection serves the next request.
        loop {
            let read = match body.read(&mut piece) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(RemoteError::Connection(error.to_string())),
            };
            cancel.check()?;
            if begun.elapsed() > limit {
                return Err(RemoteError::Slow(limit.as_secs()));
            }
            received += read as u64;
            if received > bytes {
                return Err(RemoteError::Range { found: "more".to_owned(), expected: format!("{bytes} bytes") });
            }
            let skipped = skip.min(read);
            skip -= skipped;
            take(&piece[skipped..read])?;
            range.start += (read - skipped) as u64;
        }
        if stated && received < bytes {
            return Err(RemoteError::Range { found: format!("{received} bytes"), expected: format!("{bytes} bytes") });
        }
        Ok((head.total.unwrap_or(received), head.tag))
    }
}

/// Repeats `work` until it succeeds, each time after a longer wait. It also returns true if there was progress.
///
/// # Errors
/// That of `work`, if no further try can help; [`RemoteError::Stopped`] if `cancel` is cancelled before a try.
fn repeated<T>(cancel: &Cancel, mut work: impl FnMut() -> (bool, Result<T, RemoteError>)) -> Result<T, RemoteError> {
    let mut tries = 0;
    loop {
        cancel.check()?;
        let (is_progress, result) = work();
        let error = match result {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        tries = if is_progress { 1 } else { tries + 1 };
        match wait_after(&error, tries) {
            Some(wait) => thread::sleep(wait),
            None => return Err(error),
        }
    }
}

/// The wait after a number of tries in a row without progress, the last of which failed with `error`: as long as the
/// server asks for, or longer each time, and by chance, so that many clients do not come back at once. `None` if no
/// further try can help.
fn wait_after(error: &RemoteError, tries: u32) -> Option<Duration> {
    let own = (FIRST_WAIT * 2u32.pow(tries - 1)).mul_f64(0.5 + fastrand::f64());
    let asked = if let RemoteError::Status { wait: Some(wait), .. } = error { *wait } else { Duration::ZERO };
    (error.is_passing() && tries < TRIES).then(|| own.max(asked))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::folder;

    fn client(text: &str) -> Client {
        Client::new(&Address::parse(text).unwrap(), Duration::ZERO, &Cancel::new())
    }

    #[test]
    fn a_cancelled_wait_ends_at_once_and_a_long_one_does_not_begin() {
        let busy = |seconds| RemoteError::Status { status: 503, wait: Some(Duration::from_secs(seconds)) };
        assert_eq!(wait_after(&busy(61), 1), None);
        assert_eq!(wait_after(&busy(60), 1), Some(Duration::from_secs(60)));
        let (client, start) = (client("https://host/a"), Instant::now());
        thread::scope(|scope| {
            let waits = || client.apart(move |_, cancel| repeated(cancel, || (false, Err::<(), _>(busy(60)))));
            let waiting = scope.spawn(waits);
            while !waiting.is_finished() {
                thread::sleep(TICK);
                client.interrupt();
            }
            assert!(matches!(waiting.join().unwrap(), Err(RemoteError::Stopped(_))));
        });
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn folders_differ_and_have_no_secrets() {
        let folder = |text: &str| folder(&client(text));
        for text in ["https://user:secret@host/tables?token=secret", "https://host/tables?secret#secret"] {
            assert!(!folder(text).contains("secret"), "{}", folder(text));
        }
        assert!(folder("https://host/a").starts_with("host-"));
        assert_ne!(folder("https://host/a"), folder("https://host/b"));
        // The query may change with each signature of the same directory.
        assert_eq!(folder("https://host/a?1"), folder("https://host/a?2"));
    }
}
