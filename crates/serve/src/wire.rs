//! A connection below the HTTP layer. It adds a time limit for clients that do not read, refusals with the error
//! documents of this API, and a close that lets the client read the last answer.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use kalah_api::{ApiError, Code};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_io_timeout::TimeoutStream;

use super::api::response_text;
use super::routes::long_address;

/// Maximum bytes of a request's head.
pub(super) const MAX_HEAD: usize = 128 << 10;

/// Maximum number of a request's headers.
const MAX_HEADERS: usize = 100;

/// Limits of time and bytes for reading a connection after the last answer. Closing it with unread bytes resets it,
/// and the client may lose an answer that it has not read yet, such as the refusal of a long body.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: u64 = 4 << 20;

/// Connection of a client.
pub(super) struct Wire {
    stream: Pin<Box<TimeoutStream<TcpStream>>>,
    /// Status of a refusal of the HTTP layer, which was held back.
    refusal: Option<u16>,
}

/// Returns the start of a refusal of the HTTP layer at the end of `written`, and its status. It has no body, while
/// all errors of the API have one, and it is always the last answer on a connection.
fn refusal(written: &[u8]) -> Option<(usize, u16)> {
    const START: &[u8] = b"HTTP/1.1 4";
    let head = written.strip_suffix(b"\r\n\r\n")?;
    let start = head.windows(START.len()).rposition(|bytes| bytes == START)?;
    let head = std::str::from_utf8(&head[start..]).ok()?;
    let is_refusal = head.contains("\r\ncontent-length: 0") && !head.contains("\r\n\r\n");
    is_refusal.then(|| Some((start, head.get(9..12)?.parse().ok()?)))?
}

impl Wire {
    /// Returns a connection whose client must read some bytes within `patience`.
    pub(crate) fn new(stream: TcpStream, patience: Duration) -> Wire {
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(patience));
        Wire { stream: Box::pin(stream), refusal: None }
    }

    /// Returns the reason why the HTTP layer refused the last request, if it did; `unread` are the bytes that it had
    /// not taken yet.
    pub(crate) fn refused(&self, unread: &[u8]) -> Option<ApiError> {
        let lines = || unread.iter().filter(|&&byte| byte == b'\n').count();
        match self.refusal? {
            414 => Some(long_address()),
            431 if unread.len() >= MAX_HEAD || lines() > MAX_HEADERS => {
                let most = format!("more than {MAX_HEAD} bytes before its body, or more than {MAX_HEADERS} headers");
                Some(ApiError::new(Code::LongHead, format_args!("the request has {most}")))
            }
            // The HTTP layer reports a length near 2^64 as a head that is too long, after reading the head.
            431 => Some(ApiError::request("its Content-Length is not a valid length")),
            _ => Some(ApiError::request("it is not valid HTTP/1.1")),
        }
    }

    /// Sends `error` as the last answer, if there is one, closes the writing half, and reads until the client closes
    /// its half.
    pub(crate) async fn end(mut self, error: Option<ApiError>) {
        let closed = async {
            if let Some(error) = error {
                self.stream.write_all(response_text(error).as_bytes()).await?;
            }
            self.stream.shutdown().await?;
            tokio::io::copy(&mut self.stream.take(LINGER_BYTES), &mut tokio::io::sink()).await
        };
        let _ = timeout(LINGER, closed).await;
    }
}

impl AsyncRead for Wire {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.get_mut().stream.as_mut().poll_read(cx, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wire = self.get_mut();
        match refusal(bytes) {
            Some((0, status)) => {
                wire.refusal = Some(status);
                Poll::Ready(Ok(bytes.len()))
            }
            // Sends the answers before it.
            Some((start, _)) => wire.stream.as_mut().poll_write(cx, &bytes[..start]),
            None => wire.stream.as_mut().poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().stream.as_mut().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().stream.as_mut().poll_shutdown(cx)
    }
}
