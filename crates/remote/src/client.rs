use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use ureq::http::Response;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body};

use super::address::Address;
use super::error::RemoteError;
use super::sign::Signer;

/// Tries of a request in a row that give no byte.
const TRIES: u32 = 5;

/// Wait before the second try; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(200);

/// Maximum wait that a server can ask for.
const MOST_WAIT: Duration = Duration::from_secs(30);

/// Limit for establishing a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// Limit for the head of an answer, and for each read of its body.
const SILENCE: Duration = Duration::from_secs(30);

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
}

/// Bytes of a file, as far as they were requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedBytes {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Bytes of the whole file.
    pub total: u64,
    /// Tag of the file's version, if the store has such tags.
    pub tag: Option<String>,
}

/// Head of an answer whose body can be read.
pub(crate) struct Answer {
    /// Bytes of the file that the body has; `end` is `None` if the server does not state the length.
    pub start: u64,
    pub end: Option<u64>,
    /// Bytes of the whole file, if the server states it.
    pub total: Option<u64>,
    /// True if the server sends only a part of the file.
    pub is_part: bool,
    pub tag: Option<String>,
    body: Box<dyn Read>,
}

impl Client {
    /// Makes a client for the files at an address.
    pub fn new(address: &Address) -> Client {
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
            .timeout_recv_response(Some(SILENCE))
            .timeout_per_read(Some(SILENCE))
            .build()
            .into();
        Client { agent, signer, requests: AtomicU64::new(0), bytes: AtomicU64::new(0) }
    }

    /// Requests and bytes so far.
    pub fn traffic(&self) -> Traffic {
        Traffic { requests: self.requests.load(Ordering::Relaxed), bytes: self.bytes.load(Ordering::Relaxed) }
    }

    /// Sends one request for the bytes of `range`; all from its start on if its end is `None`. With `tag`, a server
    /// sends the whole file if its version has another tag. `fresh` bypasses caches on the way.
    pub fn request(
        &self,
        url: &str,
        (start, end): (u64, Option<u64>),
        tag: Option<&str>,
        fresh: bool,
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
        let answer = request.call().map_err(broken)?;
        self.requests.fetch_add(1, Ordering::Relaxed);
        opened(answer).map_err(|error| match error {
            RemoteError::Refused(status) | RemoteError::Status(status @ 300..=400) if self.signer.is_some() => {
                RemoteError::Keys(status)
            }
            error => error,
        })
    }

    /// Reads from the body of an answer; 0 bytes at its end.
    pub fn read(&self, answer: &mut Answer, buffer: &mut [u8]) -> Result<usize, RemoteError> {
        loop {
            match answer.body.read(buffer) {
                Ok(read) => {
                    self.bytes.fetch_add(read as u64, Ordering::Relaxed);
                    return Ok(read);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(RemoteError::Connection(error.to_string())),
            }
        }
    }

    /// Reads the bytes of `range`, or up to the end of a shorter file. Bytes received before a connection broke are
    /// kept.
    ///
    /// # Errors
    /// When the server does not send them, even after several tries.
    pub fn range(&self, url: &str, range: Range<u64>, fresh: bool) -> Result<FetchedBytes, RemoteError> {
        let mut fetched = FetchedBytes { bytes: Vec::new(), total: 0, tag: None };
        let mut tries = Tries::default();
        loop {
            let before = fetched.bytes.len();
            match self.more(url, &range, fresh, &mut fetched) {
                Ok(()) => return Ok(fetched),
                Err(error) => {
                    if fetched.bytes.len() > before {
                        tries = Tries::default();
                    }
                    tries.wait(error)?;
                }
            }
        }
    }

    /// Reads the bytes of `range` that `fetched` lacks.
    fn more(&self, url: &str, range: &Range<u64>, fresh: bool, fetched: &mut FetchedBytes) -> Result<(), RemoteError> {
        let start = range.start + fetched.bytes.len() as u64;
        let mut answer = self.request(url, (start, Some(range.end)), None, fresh)?;
        let (Some(total), Some(end)) = (answer.total, answer.end) else { return Err(RemoteError::NoRanges) };
        // A server that ignores ranges may still send a file as small as the part.
        if !answer.is_part && total > range.end {
            return Err(RemoteError::NoRanges);
        }
        if answer.is_part && (answer.start, end) != (start, range.end.min(total)) {
            return Err(RemoteError::Range {
                found: format!("bytes {}-{end} of {total}", answer.start),
                expected: format!("bytes {start}-{}", range.end.min(total)),
            });
        }
        if !fetched.bytes.is_empty() && (fetched.tag != answer.tag || fetched.total != total) {
            // The file changed meanwhile.
            fetched.bytes.clear();
            return Err(RemoteError::Connection("the file changed while it was read".to_owned()));
        }
        (fetched.total, fetched.tag) = (total, answer.tag.take());
        let mut skip = start.saturating_sub(answer.start);
        let mut left = end - answer.start;
        let mut buffer = vec![0; 1 << 16];
        while left > 0 {
            let read = self.read(&mut answer, &mut buffer)? as u64;
            if read == 0 || read > left {
                let expected = format!("{} bytes", end - answer.start);
                let found = if read == 0 { format!("{} bytes", end - answer.start - left) } else { "more".to_owned() };
                return Err(RemoteError::Range { found, expected });
            }
            left -= read;
            let skipped = skip.min(read);
            skip -= skipped;
            fetched.bytes.extend_from_slice(&buffer[skipped as usize..read as usize]);
        }
        Ok(())
    }
}

/// Tries of a request in a row that gave nothing.
#[derive(Debug, Default)]
pub(crate) struct Tries(u32);

impl Tries {
    /// Waits before the next try, longer each time, and by chance, so that many clients do not come back at once.
    ///
    /// # Errors
    /// `error`, if no further try can help.
    pub fn wait(&mut self, error: RemoteError) -> Result<(), RemoteError> {
        self.0 += 1;
        if !error.is_passing() || self.0 >= TRIES {
            return Err(error);
        }
        let wait = FIRST_WAIT * 2u32.pow(self.0 - 1);
        std::thread::sleep(wait.mul_f64(0.5 + fastrand::f64()).min(MOST_WAIT));
        Ok(())
    }
}

/// Reads the head of an answer.
fn opened(answer: Response<Body>) -> Result<Answer, RemoteError> {
    let status = answer.status().as_u16();
    let header = |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    // A weak tag does not identify bytes.
    let tag = header("etag").filter(|tag| !tag.starts_with("W/"));
    let (start, end, total) = match status {
        200 => {
            let total = header("content-length").and_then(|length| length.parse().ok());
            (0, total, total)
        }
        206 => {
            let range = header("content-range").unwrap_or_default();
            let (start, end, total) = content_range(&range).ok_or_else(|| RemoteError::Range {
                found: format!("the range {range:?}"),
                expected: "bytes START-END/TOTAL".to_owned(),
            })?;
            (start, Some(end), Some(total))
        }
        401 | 403 | 407 => return Err(RemoteError::Refused(status)),
        404 | 410 => {
            return Err(RemoteError::NotFound(format!("the server does not have it (status {status})").into()));
        }
        _ => return Err(RemoteError::Status(status)),
    };
    let body = Box::new(answer.into_body().into_reader());
    Ok(Answer { start, end, total, is_part: status == 206, tag, body })
}

/// Reads `bytes 0-99/1234` as start, end and total.
fn content_range(text: &str) -> Option<(u64, u64, u64)> {
    let (range, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last, total): (u64, u64, u64) =
        (first.trim().parse().ok()?, last.trim().parse().ok()?, total.trim().parse().ok()?);
    (first <= last && last < total).then_some((first, last + 1, total))
}

/// Converts the error of a request without an answer.
fn broken(error: ureq::Error) -> RemoteError {
    match error {
        ureq::Error::Rustls(error) => RemoteError::Tls(error.to_string()),
        ureq::Error::Tls(error) => RemoteError::Tls(error.to_owned()),
        ureq::Error::Io(error) => match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            Some(error) => RemoteError::Tls(error.to_string()),
            None => RemoteError::Connection(error.to_string()),
        },
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => {
            RemoteError::Address { address: "it".to_owned(), reason: "it is malformed" }
        }
        error => RemoteError::Connection(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_answers_are_read() {
        assert_eq!(content_range("bytes 0-99/1234"), Some((0, 100, 1234)));
        for text in ["", "bytes */1234", "bytes 5-4/10", "bytes 0-10/10", "bytes 0-99/*", "0-99/1234", "bytes -1-2/3"] {
            assert_eq!(content_range(text), None, "{text}");
        }
    }
}
