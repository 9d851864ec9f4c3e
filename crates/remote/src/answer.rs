use std::io::{ErrorKind, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant, SystemTime};

use kalah_core::cancel::{Cancel, Stopped};
use ureq::http::Response;
use ureq::typestate::WithoutBody;
use ureq::{Body, RequestBuilder};

use super::error::RemoteError;

/// Interval at which a wait looks whether it should end.
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// Time after a request to stop in which an answer that is on its way may still arrive.
const GRACE: Duration = Duration::from_millis(200);

/// Bytes that are passed on together, at most.
const PIECE: usize = 1 << 16;

/// An answer, whose body a thread of its own receives. So the wait for it can end at any time.
pub(crate) struct Answer {
    pub head: Head,
    body: Receiver<Result<Vec<u8>, RemoteError>>,
    wait: Wait,
}

/// Head of an answer.
pub(crate) struct Head {
    /// Bytes of the file that the body has; `end` is `None` if the server does not state the length.
    pub start: u64,
    pub end: Option<u64>,
    /// Bytes of the whole file, if the server states it.
    pub total: Option<u64>,
    /// True if the server sends only a part of the file.
    pub is_part: bool,
    pub tag: Option<String>,
}

/// Limits of a wait.
pub(crate) struct Wait {
    cancel: Cancel,
    /// Ends the wait after `cancel` was cancelled.
    stop: Option<Instant>,
    start: Instant,
    end: Option<Instant>,
}

impl Wait {
    /// A wait that `cancel` ends.
    pub(crate) fn new(cancel: &Cancel) -> Wait {
        Wait { cancel: cancel.clone(), stop: None, start: Instant::now(), end: None }
    }

    fn check(&mut self) -> Result<(), RemoteError> {
        let now = Instant::now();
        if self.cancel.is_cancelled() && now >= *self.stop.get_or_insert(now + GRACE) {
            return Err(Stopped.into());
        }
        match self.end {
            Some(end) if now >= end => Err(RemoteError::Slow((end - self.start).as_secs())),
            _ => Ok(()),
        }
    }

    /// Waits for what a thread sends; `None` if it has ended.
    fn receive<T>(&mut self, from: &Receiver<Result<T, RemoteError>>) -> Result<Option<T>, RemoteError> {
        loop {
            self.check()?;
            match from.recv_timeout(TICK) {
                Ok(received) => return received.map(Some),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Answer {
    /// Sends a request, and waits for the head of its answer.
    pub(crate) fn of(request: RequestBuilder<WithoutBody>, mut wait: Wait) -> Result<Answer, RemoteError> {
        let ((head_sender, head), (sender, body)) = (sync_channel(1), sync_channel(2));
        let thread = std::thread::Builder::new().name("request".to_owned());
        let started = thread.spawn(move || transfer(request, &head_sender, &sender));
        started.map_err(|error| RemoteError::Connection(error.to_string()))?;
        let head = wait.receive(&head)?;
        let head = head.ok_or_else(|| RemoteError::Connection("the request ended early".to_owned()))?;
        Ok(Answer { head, body, wait })
    }

    /// Limits the time for the rest of the body.
    pub(crate) fn must_end_by(&mut self, end: Instant) {
        self.wait.end = Some(end);
    }

    /// Next bytes of the body; `None` at its end.
    pub(crate) fn read(&mut self) -> Result<Option<Vec<u8>>, RemoteError> {
        self.wait.receive(&self.body)
    }
}

/// Sends a request, and passes its answer on, until nobody waits for it any more.
fn transfer(
    request: RequestBuilder<WithoutBody>,
    head_to: &SyncSender<Result<Head, RemoteError>>,
    to: &SyncSender<Result<Vec<u8>, RemoteError>>,
) {
    let (head, mut body) = match request.call().map_err(broken).and_then(opened) {
        Ok(answer) => answer,
        Err(error) => return drop(head_to.send(Err(error))),
    };
    let mut is_wanted = head_to.send(Ok(head)).is_ok();
    while is_wanted {
        let mut bytes = vec![0; PIECE];
        let received = match body.read(&mut bytes) {
            Ok(0) => break,
            Ok(read) => {
                bytes.truncate(read);
                Ok(bytes)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => Err(RemoteError::Connection(error.to_string())),
        };
        is_wanted = received.is_ok();
        is_wanted &= to.send(received).is_ok();
    }
    // The connection is free again before the other end learns that the body has ended.
    drop(body);
}

/// Reads the head of an answer.
fn opened(answer: Response<Body>) -> Result<(Head, impl Read), RemoteError> {
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
        _ => {
            let wait = header("retry-after").and_then(|wait| retry_after(&wait, SystemTime::now()));
            return Err(wait.map_or(RemoteError::Status(status), |wait| RemoteError::Busy { status, wait }));
        }
    };
    let head = Head { start, end, total, is_part: status == 206, tag };
    Ok((head, answer.into_body().into_reader()))
}

/// Reads `bytes 0-99/1234` as start, end and total.
fn content_range(text: &str) -> Option<(u64, u64, u64)> {
    let (range, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last, total): (u64, u64, u64) =
        (first.trim().parse().ok()?, last.trim().parse().ok()?, total.trim().parse().ok()?);
    (first <= last && last < total).then_some((first, last + 1, total))
}

/// Reads `Retry-After`: a number of seconds, or a time such as `Sun, 06 Nov 1994 08:49:37 GMT`.
fn retry_after(text: &str, now: SystemTime) -> Option<Duration> {
    if let Ok(seconds) = text.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    Some(httpdate::parse_http_date(text).ok()?.duration_since(now).unwrap_or_default())
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

/// Tries of a request in a row without progress.
const TRIES: u32 = 5;

/// Wait before the second try; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(200);

/// Tries of a request in a row without progress.
#[derive(Debug, Default)]
pub(crate) struct Tries(u32);

impl Tries {
    /// Waits after a try, which made `progress` or not: as long as the server asks for, or longer each time, and by
    /// chance, so that many clients do not come back at once.
    ///
    /// # Errors
    /// `error`, if no further try can help; [`RemoteError::Stopped`] as soon as `cancel` is cancelled.
    pub(crate) fn wait(&mut self, progress: bool, error: RemoteError, cancel: &Cancel) -> Result<(), RemoteError> {
        self.0 = if progress { 1 } else { self.0 + 1 };
        if !error.is_passing() || self.0 >= TRIES {
            return Err(error);
        }
        let own = (FIRST_WAIT * 2u32.pow(self.0 - 1)).mul_f64(0.5 + fastrand::f64());
        let asked = if let RemoteError::Busy { wait, .. } = error { wait } else { Duration::ZERO };
        let end = Instant::now() + own.max(asked);
        loop {
            cancel.check()?;
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(TICK));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn ranges_of_answers_are_read() {
        assert_eq!(content_range("bytes 0-99/1234"), Some((0, 100, 1234)));
        for text in ["", "bytes */1234", "bytes 5-4/10", "bytes 0-10/10", "bytes 0-99/*", "0-99/1234", "bytes -1-2/3"] {
            assert_eq!(content_range(text), None, "{text}");
        }
    }

    #[test]
    fn waits_that_a_server_asks_for_are_read() {
        // The time in the example of RFC 9110.
        let now = UNIX_EPOCH + Duration::from_secs(784_111_777);
        let after = |text, earlier| retry_after(text, now - Duration::from_secs(earlier)).map(|wait| wait.as_secs());
        assert_eq!(after("120", 0), Some(120));
        assert_eq!(after("Sun, 06 Nov 1994 08:49:37 GMT", 40), Some(40));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now + Duration::from_secs(9)), Some(Duration::ZERO));
        for text in ["", "-1", "soon", "Sun, 06 Nov 1994", "Sun, 6 Foo 1994 08:49:37 GMT"] {
            assert_eq!(after(text, 0), None, "{text}");
        }
    }

    #[test]
    fn a_cancelled_wait_ends_at_once_and_a_long_one_does_not_begin() {
        let (cancel, start) = (Cancel::new(), Instant::now());
        let busy = |seconds| RemoteError::Busy { status: 503, wait: Duration::from_secs(seconds) };
        assert!(matches!(Tries::default().wait(false, busy(61), &cancel), Err(RemoteError::Busy { .. })));
        cancel.cancel();
        assert!(matches!(Tries::default().wait(false, busy(60), &cancel), Err(RemoteError::Stopped(_))));
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}
