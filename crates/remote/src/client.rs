use std::fmt::Display;
use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use kalah_core::cancel::{Cancel, Stopped};
use parking_lot::Mutex;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, BodyReader};

use super::address::Address;
use super::answer::Head;
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

/// Pieces received that wait to be taken.
const PIECES: usize = 4;

/// End of a range that has no end: all bytes from its start on.
pub(crate) const NO_END: u64 = u64::MAX;

/// The files at an address, requested over HTTP with pooled connections. Requests that fail for a passing reason are
/// repeated, each after a longer wait. The proxies of the environment (`HTTPS_PROXY`, `NO_PROXY`) are used.
///
/// Each request has a thread of its own, so that the wait for it can end at any time.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) address: Address,
    agent: Agent,
    /// Limit for the head of an answer, and for each read of its body.
    patience: Duration,
    /// Ends all waits for the server.
    cancel: Cancel,
    /// Ends the waits of now. It is a child of `cancel`.
    now: Arc<Mutex<Cancel>>,
}

/// Bytes of the whole file, and the tag of its version.
type Version = (u64, Option<String>);

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
        let now = Arc::new(Mutex::new(cancel.child()));
        Client { address: address.clone(), agent, patience, cancel: cancel.clone(), now }
    }

    /// Receives the bytes of `range` of the file `name`, or up to the end of a shorter file, which `take` gets. After a
    /// broken connection it goes on where it was.
    ///
    /// # Errors
    /// When the server does not send them, even after several tries, or too slowly; when the wait was ended; those of
    /// `take`.
    pub(crate) fn receive(
        &self,
        name: &str,
        mut range: Range<u64>,
        fresh: bool,
        mut take: impl FnMut(&[u8]) -> Result<(), RemoteError>,
    ) -> Result<Version, RemoteError> {
        let (client, name, cancel, (to, from)) =
            (self.clone(), name.to_owned(), self.now.lock().clone(), sync_channel(PIECES));
        let of_thread = cancel.clone();
        let request = move || {
            // A download keeps each byte.
            let progress = if range.end == NO_END { 1 } else { PROGRESS };
            repeated(&of_thread, || {
                let start = range.start;
                let received = client.more(&name, &mut range, fresh, &of_thread, &to);
                (range.start >= start + progress, received)
            })
        };
        let started = thread::Builder::new().name("request".to_owned()).spawn(request);
        let started = started.map_err(|error| RemoteError::Broken(error.to_string()))?;
        loop {
            match from.recv_timeout(TICK) {
                Ok(bytes) => take(&bytes)?,
                Err(RecvTimeoutError::Timeout) => cancel.check()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return started.join().unwrap_or_else(|panic| resume_unwind(panic));
                }
            }
        }
    }

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
        let answer = request.call().map_err(no_answer)?;
        let head = Head::of(&answer, range, signer.is_some())?;
        Ok((head, answer.into_body().into_reader()))
    }

    /// Receives bytes of one answer, which it sends on, and moves the start of `range` beyond them.
    fn more(
        &self,
        name: &str,
        range: &mut Range<u64>,
        fresh: bool,
        cancel: &Cancel,
        to: &SyncSender<Vec<u8>>,
    ) -> Result<Version, RemoteError> {
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
            return Err(RemoteError::Store("the server cannot send parts of files: it ignores range requests".into()));
        }
        let (begun, limit) = (Instant::now(), self.patience + Duration::from_secs(bytes / SLOWEST));
        let (mut skip, mut received, mut piece) = (head.skip as usize, 0, vec![0; PIECE]);
        // To the end of the body, so that its connection serves the next request.
        loop {
            let read = match body.read(&mut piece) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(no_answer(error)),
            };
            cancel.check()?;
            if begun.elapsed() > limit {
                let seconds = limit.as_secs();
                return Err(RemoteError::Store(
                    format!("the server sends too slowly: {seconds} s were not enough").into(),
                ));
            }
            received += read as u64;
            if received > bytes {
                return Err(RemoteError::other("more", format_args!("{bytes} bytes")));
            }
            let skipped = skip.min(read);
            skip -= skipped;
            to.send(piece[skipped..read].to_vec()).map_err(|_| Stopped)?;
            range.start += (read - skipped) as u64;
        }
        if stated && received < bytes {
            return Err(RemoteError::other(format_args!("{received} bytes"), format_args!("{bytes} bytes")));
        }
        Ok((head.total.unwrap_or(received), head.tag))
    }
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
        let (total, tag) = self.receive(name, range, fresh, |new| {
            bytes.extend_from_slice(new);
            Ok(())
        })?;
        Ok(FetchedBytes { bytes, total, tag })
    }

    fn interrupt(&self) {
        std::mem::replace(&mut *self.now.lock(), self.cancel.child()).cancel();
    }
}

/// The error of a request without an answer, or of a broken connection.
fn no_answer(error: impl Display) -> RemoteError {
    RemoteError::Broken(format!("no answer from the server: {error}"))
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
    fn a_long_wait_does_not_begin() {
        let busy = |seconds| RemoteError::Status { status: 503, wait: Some(Duration::from_secs(seconds)) };
        assert_eq!(wait_after(&busy(61), 1), None);
        assert_eq!(wait_after(&busy(60), 1), Some(Duration::from_secs(60)));
    }

    #[test]
    fn folders_of_directories_differ() {
        let folder = |text: &str| folder(&client(text));
        assert_ne!(folder("https://host/a"), folder("https://host/b"));
        // The query may change with each signature of the same directory.
        assert_eq!(folder("https://host/a?1"), folder("https://host/a?2"));
    }
}
