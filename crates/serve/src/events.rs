//! Streamed answers: server-sent events, sent while the work goes on.

use std::convert::Infallible;
use std::future::Future;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use kalah_api::ApiError;
use serde::Serialize;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use super::page::parts;
use super::slots::Work;

/// Media type of events.
const EVENTS: &str = "text/event-stream";

/// Header that makes proxies such as nginx pass each event on at once, instead of collecting them.
const UNBUFFERED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));

/// Returns true if the client asks for events.
pub(super) fn wanted(headers: &HeaderMap) -> bool {
    parts(headers, &header::ACCEPT).any(|kind| kind.split(';').next().is_some_and(|kind| kind.trim() == EVENTS))
}

/// Sends events. Events are dropped after the client has gone.
#[derive(Clone)]
pub(super) struct Sender(UnboundedSender<Event>);

impl Sender {
    /// Sends a document as an event of this name.
    pub(crate) fn send(&self, name: &str, document: &impl Serialize) {
        let event = Event::default().event(name).json_data(document).expect("documents are JSON");
        let _ = self.0.send(event);
    }
}

/// Returns an answer that streams the events of `work`, and at the end its result as an event `answer` or `error`.
/// Dropping the answer, when the client has gone, stops the work.
pub(super) fn stream<T: Serialize + Send, F>(work: impl FnOnce(Sender) -> F) -> Response
where
    F: Future<Output = Result<T, ApiError>> + Send + 'static,
{
    let (sender, mut events) = unbounded_channel();
    let sender = Sender(sender);
    let work = work(sender.clone());
    // Dropping it aborts its tasks.
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        match work.await {
            Ok(answer) => sender.send("answer", &answer),
            Err(error) => sender.send("error", &error.document()),
        }
    });
    let events = stream::poll_fn(move |context| {
        let _held = &tasks;
        events.poll_recv(context).map(|event| event.map(Ok::<Event, Infallible>))
    });
    ([UNBUFFERED], Sse::new(events)).into_response()
}

/// Returns the same answer. During a stream, the connection does not count as waiting for its client.
pub(super) fn at_work_until_sent(response: Response, work: Work) -> Response {
    if response.headers().get(header::CONTENT_TYPE).is_none_or(|kind| kind != EVENTS) {
        return response;
    }
    response.map(|body| {
        let frames = body.into_data_stream().inspect(move |_| {
            let _held = &work;
        });
        Body::from_stream(frames)
    })
}
