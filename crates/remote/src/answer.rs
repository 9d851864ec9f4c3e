use std::ops::Range;
use std::time::{Duration, SystemTime};

use ureq::Body;
use ureq::http::Response;

use super::error::RemoteError;

/// Head of an answer.
pub(crate) struct Head {
    /// Bytes of the body before the requested ones: a server that ignores ranges sends the whole file.
    pub skip: u64,
    /// Bytes of the body, if the server states them.
    pub bytes: Option<u64>,
    /// Bytes of the whole file, if the server states them.
    pub total: Option<u64>,
    /// Tag of the file's version, if it identifies bytes.
    pub tag: Option<String>,
}

impl Head {
    /// Reads the head of an answer to a request for these bytes, or those up to the end of a shorter file.
    /// `is_signed` is true if the request was signed with keys.
    ///
    /// # Errors
    /// When it is a refusal or another failure, or has another range.
    pub(crate) fn of(answer: &Response<Body>, range: &Range<u64>, is_signed: bool) -> Result<Head, RemoteError> {
        let status = answer.status().as_u16();
        let header = |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        // A weak tag does not identify bytes.
        let tag = header("etag").filter(|tag| !tag.starts_with("W/"));
        match status {
            200 => {
                let total = header("content-length").and_then(|length| length.parse().ok());
                Ok(Head { skip: range.start, bytes: total, total, tag })
            }
            206 => {
                let found = header("content-range").unwrap_or_default();
                let is_asked =
                    |&(start, end, total): &(u64, u64, u64)| (start, end) == (range.start, range.end.min(total));
                let (start, end, total) = content_range(&found).filter(is_asked).ok_or_else(|| RemoteError::Range {
                    found: format!("the range {found:?}"),
                    expected: format!("one from byte {} on", range.start),
                })?;
                Ok(Head { skip: 0, bytes: Some(end - start), total: Some(total), tag })
            }
            300..=401 | 403 | 407 if is_signed => Err(RemoteError::Keys(status)),
            401 | 403 | 407 => Err(RemoteError::Refused(status)),
            404 | 410 => Err(RemoteError::NotFound(format!("the server does not have it (status {status})").into())),
            _ => {
                let wait = header("retry-after").and_then(|wait| retry_after(&wait, SystemTime::now()));
                Err(RemoteError::Status { status, wait })
            }
        }
    }
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
pub(crate) fn broken(error: ureq::Error) -> RemoteError {
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
}
