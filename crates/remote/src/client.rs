use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use kalah_core::cancel::Cancel;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use super::address::Address;
use super::answer::{Answer, Tries, Wait};
use super::error::RemoteError;
use super::sign::Signer;

/// Limit for establishing a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// Bytes a second that a part of a file must have in all. Sixteen requests may share a slow line.
const SLOWEST: u64 = 4 << 10;

/// Bytes of a part that count as progress. A server could send it byte by byte otherwise.
const PROGRESS: usize = 4 << 10;

/// Requests and bytes so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Answers that had a body.
    pub requests: u64,
    /// Bytes of these bodies.
    pub bytes: u64,
}

/// Requests files over HTTP, with pooled connections. Requests that fail for a passing reason are repeated, each after
/// a longer wait. The proxies of the environment (`HTTPS_PROXY`, `NO_PROXY`) are used.
#[derive(Debug)]
pub(crate) struct Client {
    agent: Agent,
    signer: Option<Signer>,
    requests: AtomicU64,
    bytes: AtomicU64,
    /// Limit for the head of an answer, and for each read of its body.
    patience: Duration,
    /// Ends all waits for the server.
    cancel: Cancel,
    /// Ends the waits of now. It is a child of `cancel`.
    now: Mutex<Cancel>,
}

/// The requested bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedBytes {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Bytes of the whole file.
    pub total: u64,
    /// Tag of the file's version, if the store has such tags.
    pub tag: Option<String>,
}

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
        let signer = address.signer().cloned();
        let agent = Agent::config_builder()
            // A signature is for one server.
            .max_redirects(if signer.is_some() { 0 } else { 10 })
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
        let (requests, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        let now = Mutex::new(cancel.child());
        Client { agent, signer, requests, bytes, patience, cancel: cancel.clone(), now }
    }

    /// Ends the waits of now: requests in progress fail, and later ones do not.
    pub(crate) fn interrupt(&self) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *now, self.cancel.child()).cancel();
    }

    /// Returns the request to end the waits of now.
    pub(crate) fn interruption(&self) -> Cancel {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Requests and bytes so far.
    pub(crate) fn traffic(&self) -> Traffic {
        Traffic { requests: self.requests.load(Ordering::Relaxed), bytes: self.bytes.load(Ordering::Relaxed) }
    }

    /// Sends one request for the bytes of `range`; all from its start on if its end is `None`. With `tag`, a server
    /// sends the whole file if its version has another tag. `fresh` bypasses caches on the way. `cancel` ends the wait
    /// for the answer and its body.
    pub(crate) fn request(
        &self,
        url: &str,
        (start, end): (u64, Option<u64>),
        tag: Option<&str>,
        fresh: bool,
        cancel: &Cancel,
    ) -> Result<Answer, RemoteError> {
        let mut request = self.agent.get(url).header("accept-encoding", "identity");
        let last = end.map_or(String::new(), |end| (end - 1).to_string());
        let range = (start > 0 || end.is_some()).then(|| format!("bytes={start}-{last}"));
        if let Some(range) = &range {
            request = request.header("range", range);
            if let Some(tag) = tag {
                request = request.header("if-range", tag);
            }
        }
        if let Some(signer) = &self.signer {
            let headers = signer.headers(url, range.as_deref(), SystemTime::now());
            request = headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
        }
        if fresh {
            request = request.header("cache-control", "no-cache");
        }
        let answer = Answer::of(request, Wait::new(cancel));
        if !matches!(answer, Err(RemoteError::Connection(_) | RemoteError::Tls(_) | RemoteError::Stopped(_))) {
            self.requests.fetch_add(1, Ordering::Relaxed);
        }
        answer.map_err(|error| match error {
            RemoteError::Refused(status) | RemoteError::Status(status @ 300..=400) if self.signer.is_some() => {
                RemoteError::Keys(status)
            }
            error => error,
        })
    }

    /// Next bytes of the body of an answer; `None` at its end.
    pub(crate) fn read(&self, answer: &mut Answer) -> Result<Option<Vec<u8>>, RemoteError> {
        let read = answer.read()?;
        self.bytes.fetch_add(read.as_ref().map_or(0, |bytes| bytes.len() as u64), Ordering::Relaxed);
        Ok(read)
    }

    /// Reads the bytes of `range`, or up to the end of a shorter file. Bytes received before a connection broke are
    /// kept.
    ///
    /// # Errors
    /// When the server does not send them, even after several tries, or too slowly; when the wait was ended.
    pub(crate) fn range(&self, url: &str, range: Range<u64>, fresh: bool) -> Result<FetchedBytes, RemoteError> {
        let mut fetched = FetchedBytes { bytes: Vec::new(), total: 0, tag: None };
        let (mut tries, cancel) = (Tries::default(), self.interruption());
        loop {
            let before = fetched.bytes.len();
            match self.more(url, &range, fresh, &mut fetched, &cancel) {
                Ok(()) => return Ok(fetched),
                Err(error) => tries.wait(fetched.bytes.len() >= before + PROGRESS, error, &cancel)?,
            }
        }
    }

    /// Reads the bytes of `range` that `fetched` lacks.
    fn more(
        &self,
        url: &str,
        range: &Range<u64>,
        fresh: bool,
        fetched: &mut FetchedBytes,
        cancel: &Cancel,
    ) -> Result<(), RemoteError> {
        let start = range.start + fetched.bytes.len() as u64;
        let mut answer = self.request(url, (start, Some(range.end)), None, fresh, cancel)?;
        let (Some(total), Some(end)) = (answer.head.total, answer.head.end) else { return Err(RemoteError::NoRanges) };
        // A server that ignores ranges may still send a file as small as the part.
        if !answer.head.is_part && total > range.end {
            return Err(RemoteError::NoRanges);
        }
        if answer.head.is_part && (answer.head.start, end) != (start, range.end.min(total)) {
            return Err(RemoteError::Range {
                found: format!("bytes {}-{end} of {total}", answer.head.start),
                expected: format!("bytes {start}-{}", range.end.min(total)),
            });
        }
        if !fetched.bytes.is_empty() && (fetched.tag != answer.head.tag || fetched.total != total) {
            // The file changed meanwhile.
            fetched.bytes.clear();
            return Err(RemoteError::Connection("the file changed while it was read".to_owned()));
        }
        (fetched.total, fetched.tag) = (total, answer.head.tag.take());
        let body = end - answer.head.start;
        answer.must_end_by(Instant::now() + self.patience + Duration::from_secs(body / SLOWEST));
        let (mut skip, mut left) = (start.saturating_sub(answer.head.start), body);
        // To the end of the body, so that its connection serves the next request.
        while let Some(bytes) = self.read(&mut answer)? {
            let read = bytes.len() as u64;
            if read > left {
                return Err(RemoteError::Range { found: "more".to_owned(), expected: format!("{body} bytes") });
            }
            left -= read;
            let skipped = skip.min(read);
            skip -= skipped;
            fetched.bytes.extend_from_slice(&bytes[skipped as usize..]);
        }
        if left > 0 {
            return Err(RemoteError::Range {
                found: format!("{} bytes", body - left),
                expected: format!("{body} bytes"),
            });
        }
        Ok(())
    }
}

/// A directory of files elsewhere, read by parts: over HTTP, or by any other means.
///
/// Nothing that it sends is trusted: headers are compared with digests, and blocks with checksums.
pub trait Store: Send + Sync {
    /// Address of the directory, for messages.
    fn address(&self) -> &Path;

    /// Text that identifies the directory: another directory has another text. It is only shown as a digest.
    fn identity(&self) -> String {
        self.address().display().to_string()
    }

    /// Names of all files; `None` if the store cannot list them.
    ///
    /// # Errors
    /// When the list cannot be read.
    fn names(&self) -> Result<Option<Vec<String>>, RemoteError> {
        Ok(None)
    }

    /// Reads the bytes of `range` of the file `name`, or up to the end of a shorter file. `fresh` bypasses caches on
    /// the way. Several threads may call this at once.
    ///
    /// # Errors
    /// [`RemoteError::NotFound`] if there is no such file; otherwise when the bytes cannot be read.
    fn range(&self, name: &str, range: Range<u64>, fresh: bool) -> Result<FetchedBytes, RemoteError>;

    /// Ends the waits of now: calls of [`Store::range`] in progress fail, and later ones do not. A store that cannot do
    /// this goes on.
    fn interrupt(&self) {}

    /// Requests and bytes so far.
    fn traffic(&self) -> Traffic;
}

/// Name of a folder of the cache for a directory: where it is, and a digest.
pub(crate) fn folder(store: &dyn Store) -> String {
    let shown = store.address().display().to_string();
    let host = shown.split("://").nth(1).and_then(|rest| rest.split('/').find(|part| !part.is_empty()));
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '.' || letter == '-';
    let plain = |letter| if is_plain(letter) { letter } else { '-' };
    let host: String = host.unwrap_or("files").chars().map(plain).take(60).collect();
    let digest = blake3::hash(store.identity().as_bytes()).to_hex();
    format!("{host}-{}", &digest[..16])
}

/// The files at an address.
pub(crate) struct HttpStore {
    client: Client,
    address: Address,
}

impl HttpStore {
    /// See [`Client::new`].
    pub(crate) fn new(address: &Address, patience: Duration, cancel: &Cancel) -> HttpStore {
        HttpStore { client: Client::new(address, patience, cancel), address: address.clone() }
    }
}

impl Store for HttpStore {
    fn address(&self) -> &Path {
        self.address.shown()
    }

    fn identity(&self) -> String {
        self.address.identity().to_owned()
    }

    fn range(&self, name: &str, range: Range<u64>, fresh: bool) -> Result<FetchedBytes, RemoteError> {
        self.client.range(&self.address.file(name), range, fresh)
    }

    fn interrupt(&self) {
        self.client.interrupt();
    }

    fn traffic(&self) -> Traffic {
        self.client.traffic()
    }
}

impl fmt::Debug for dyn Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("address", &self.address()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_differ_and_have_no_secrets() {
        let folder = |text: &str| {
            let address = Address::parse(text).unwrap();
            folder(&HttpStore::new(&address, Duration::ZERO, &Cancel::new()))
        };
        for text in ["https://user:secret@host/tables?token=secret", "https://host/tables?secret#secret"] {
            assert!(!folder(text).contains("secret"), "{}", folder(text));
        }
        assert!(folder("https://host/a").starts_with("host-"));
        assert_ne!(folder("https://host/a"), folder("https://host/b"));
        // The query may change with each signature of the same directory.
        assert_eq!(folder("https://host/a?1"), folder("https://host/a?2"));
    }
}
