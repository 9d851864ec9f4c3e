//! A connection as the HTTP layer sees it, with what that layer lacks: a time limit on clients that do not read, refusals
//! with the error document of this API, and a close that lets the client read the last answer.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep, timeout};

use super::ApiError;

/// How long, and for how many bytes, a connection is still read after the last answer: closing it with unread bytes resets
/// it, and the client may lose an answer that it has not read yet, such as the refusal of a long body.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 4 << 20;

/// Bytes that are read at a time.
const READ_BYTES: usize = 8 << 10;

/// A client's connection.
pub(super) struct Wire {
    stream: TokioIo<TcpStream>,
    /// How long the client may take to read what is written at once.
    patience: Duration,
    /// When it has taken too long; `None` while nothing waits to be written.
    late: Option<Pin<Box<Sleep>>>,
    /// What is written instead of a refusal of the HTTP layer.
    instead: Vec<u8>,
    /// The last bytes that were read, among them the head of the present request.
    heard: Vec<u8>,
}

/// Returns true if one of some heads has a length that is no length: the HTTP layer takes those next to 2^64 for a head that is
/// too long.
fn has_impossible_length(heads: &[u8]) -> bool {
    let mut lines = heads.split(|&byte| byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    lines.any(|line| {
        let length = line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        length.and_then(|(_, length)| length.trim().parse().ok()).is_some_and(|length: u64| length >= u64::MAX - 1)
    })
}

/// A refusal of the HTTP layer at the end of `written`: where it begins, and what it means. It has no body, while all errors
/// of the API have one; and it is always the last answer on a connection.
fn refusal(written: &[u8]) -> Option<(usize, ApiError)> {
    const START: &[u8] = b"HTTP/1.1 4";
    if !written.ends_with(b"\r\n\r\n") {
        return None;
    }
    let start = written.windows(START.len()).rposition(|bytes| bytes == START)?;
    let (head, end) = written[start..].split_last_chunk::<4>()?;
    let head = std::str::from_utf8(head).ok().filter(|head| end == b"\r\n\r\n" && !head.contains("\r\n\r\n"))?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?;
    let empty = lines.any(|line| line.eq_ignore_ascii_case("content-length: 0"));
    let error = match status {
        "400" => ApiError::Request("it is not valid HTTP/1.1".to_owned()),
        "414" => ApiError::LongAddress,
        "431" => ApiError::LongHead,
        _ => return None,
    };
    empty.then_some((start, error))
}

impl Wire {
    pub fn new(stream: TcpStream, patience: Duration) -> Wire {
        Wire { stream: TokioIo::new(stream), patience, late: None, instead: Vec::new(), heard: Vec::new() }
    }

    /// The error for a client that has taken too long to read; pending until it has.
    fn check_late(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        let patience = self.patience;
        let late = self.late.get_or_insert_with(|| Box::pin(sleep(patience)));
        late.as_mut().poll(cx).map(|()| io::ErrorKind::TimedOut.into())
    }

    fn poll_instead(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.instead.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.instead))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.instead.drain(..written);
        }
        Poll::Ready(Ok(()))
    }

    /// `done`, or an error where it is pending and the client has taken too long.
    fn in_time<T>(&mut self, cx: &mut Context<'_>, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if done.is_pending() { self.check_late(cx).map(Err) } else { done }
    }

    /// Sends `error` as the last answer and closes the connection.
    pub async fn refuse(self, error: &ApiError) {
        let refusal = error.response_text();
        let mut stream = self.stream.into_inner();
        let _ = timeout(LINGER, stream.write_all(refusal.as_bytes())).await;
        linger(stream).await;
    }

    /// Closes the connection.
    pub async fn end(self) {
        linger(self.stream.into_inner()).await;
    }
}

/// Closes the writing half, and reads until the client closes its own.
async fn linger(mut stream: TcpStream) {
    let heard = async {
        stream.shutdown().await?;
        let (mut bytes, mut left) = ([0; 4096], LINGER_BYTES);
        while left > 0 {
            match stream.read(&mut bytes).await? {
                0 => break,
                read => left = left.saturating_sub(read),
            }
        }
        io::Result::Ok(())
    };
    let _ = timeout(LINGER, heard).await;
}

impl Read for Wire {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, mut buffer: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        let mut bytes = [0; READ_BYTES];
        let mut read = ReadBuf::new(&mut bytes[..buffer.remaining().min(READ_BYTES)]);
        ready!(Pin::new(wire.stream.inner_mut()).poll_read(cx, &mut read))?;
        let lost = (wire.heard.len() + read.filled().len()).saturating_sub(READ_BYTES).min(wire.heard.len());
        wire.heard.drain(..lost);
        wire.heard.extend_from_slice(read.filled());
        buffer.put_slice(read.filled());
        Poll::Ready(Ok(()))
    }
}

impl Write for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wire = self.get_mut();
        if let Some((start, mut error)) = refusal(bytes) {
            if matches!(error, ApiError::LongHead) && has_impossible_length(&wire.heard) {
                error = ApiError::Request("its Content-Length is no length".to_owned());
            }
            wire.instead.extend_from_slice(&bytes[..start]);
            wire.instead.extend_from_slice(error.response_text().as_bytes());
            return Poll::Ready(Ok(bytes.len()));
        }
        let done = match wire.poll_instead(cx) {
            Poll::Ready(Ok(())) => Pin::new(&mut wire.stream).poll_write(cx, bytes),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        };
        wire.in_time(cx, done)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        let done = wire.poll_instead(cx);
        let done = wire.in_time(cx, done);
        if done.is_ready() {
            wire.late = None;
        }
        done
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        ready!(Pin::new(&mut *wire).poll_flush(cx))?;
        Pin::new(&mut wire.stream).poll_shutdown(cx)
    }
}
