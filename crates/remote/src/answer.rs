use std::ops::Range;
use std::time::Duration;

use ureq::Body;
use ureq::http::Response;

use super::error::RemoteError;

/// Advice if the server refuses the keys of the environment, or the bucket is in another region.
const CHECK_KEYS: &str =
    " with the keys of AWS_ACCESS_KEY_ID: check them and AWS_REGION, or unset them for a public bucket";

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
                let (start, end, total) = content_range(&found).filter(is_asked).ok_or_else(|| {
                    RemoteError::other(format_args!("the range {found:?}"), format_args!("byte {}", range.start))
                })?;
                Ok(Head { skip: 0, bytes: Some(end - start), total: Some(total), tag })
            }
            300..=401 | 403 | 407 if is_signed => Err(RemoteError::Refused { status, advice: CHECK_KEYS }),
            401 | 403 | 407 => Err(RemoteError::Refused { status, advice: "" }),
            404 | 410 => Err(RemoteError::NotFound(format!("the server does not have it (status {status})").into())),
            _ => {
                let wait = header("retry-after").and_then(|wait| wait.trim().parse().ok());
                Err(RemoteError::Status { status, wait: wait.map(Duration::from_secs) })
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
