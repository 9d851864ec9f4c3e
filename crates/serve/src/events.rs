//! Answers in parts: server-sent events, while the work for them goes on.

use std::convert::Infallible;
use std::fmt::Write;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use serde::Serialize;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::AbortHandle;

use super::ApiError;
use super::slots::Work;

/// The media type of events.
pub(super) const EVENTS: &str = "text/event-stream";

/// Whether the client asks for events.
pub(super) fn wanted(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
    accepted
        .flat_map(|value| value.split(','))
        .any(|kind| kind.split(';').next().is_some_and(|kind| kind.trim() == EVENTS))
}

/// Where events are sent to; what is sent after the client has gone is lost.
#[derive(Clone)]
pub(super) struct Sender(UnboundedSender<Bytes>);

impl Sender {
    /// Sends a document under a name.
    pub fn send(&self, name: &str, document: &impl Serialize) {
        // Documents have no line breaks: JSON escapes them.
        let document = serde_json::to_string(document)
            .unwrap_or_else(|error| ApiError::Failed(format!("a document cannot be written: {error}")).document());
        self.text(name, &document);
    }

    fn text(&self, name: &str, document: &str) {
        let mut text = String::with_capacity(document.len() + name.len() + 16);
        let _ = write!(text, "event: {name}\ndata: {document}\n\n");
        let _ = self.0.send(text.into());
    }
}

/// Events as the body of an answer. Dropping it ends the work: the client has gone.
struct Events {
    events: UnboundedReceiver<Bytes>,
    work: AbortHandle,
}

impl HttpBody for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.get_mut().events.poll_recv(cx).map(|event| event.map(|event| Ok(Frame::data(event))))
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.work.abort();
    }
}

/// An answer of the events that `work` sends, and then its result: an event `answer`, or `error`.
pub(super) fn stream<T: Serialize + Send, F>(work: impl FnOnce(Sender) -> F) -> Response
where
    F: Future<Output = Result<T, ApiError>> + Send + 'static,
{
    let (sender, events) = unbounded_channel();
    let sender = Sender(sender);
    let work = work(sender.clone());
    let task = tokio::spawn(async move {
        match work.await {
            Ok(answer) => sender.send("answer", &answer),
            Err(error) => sender.text("error", &error.document()),
        }
    });
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static(EVENTS))];
    (kind, Body::new(Events { events, work: task.abort_handle() })).into_response()
}

/// A body during which the server is at work for the client.
struct Held {
    body: Body,
    _work: Option<Work>,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

/// The same answer; if it is one of events, the connection does not count as waiting for its client before all are sent.
pub(super) fn at_work_until_sent(response: Response, work: Option<Work>) -> Response {
    let is_stream = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == EVENTS);
    if is_stream { response.map(|body| Body::new(Held { body, _work: work })) } else { response }
}
