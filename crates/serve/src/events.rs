//! Streamed answers: server-sent events, sent while the work goes on.

use std::convert::Infallible;
use std::future::Future;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{FutureExt, stream};
use kalah_api::{ApiError, ErrorAnswer};
use serde::Serialize;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::searches::Service;

/// Header that makes proxies such as nginx pass each event on at once, instead of collecting them.
const UNBUFFERED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));

/// Returns true if the client asks for events.
pub(super) fn wanted(headers: &HeaderMap) -> bool {
    headers.get(header::ACCEPT).is_some_and(|kind| kind == "text/event-stream")
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

/// Returns a sender of events, and their receiver for [`respond`].
pub(super) fn channel() -> (Sender, UnboundedReceiver<Event>) {
    let (sender, events) = unbounded_channel();
    (Sender(sender), events)
}

/// Returns an answer that streams events, and at the end the result of `work` as an event `answer` or `error`. Dropping
/// the answer, when the client has gone, stops the work.
pub(super) fn respond<T: Serialize + Send>(
    service: &'static Service,
    sender: Sender,
    mut events: UnboundedReceiver<Event>,
    work: impl Future<Output = Result<T, ApiError>> + Send + 'static,
) -> Response {
    let work = async move {
        match work.await {
            Ok(answer) => sender.send("answer", &answer),
            Err(error) => {
                service.options.report(&error);
                sender.send("error", &ErrorAnswer { error });
            }
        }
    };
    let mut work = Box::pin(work.fuse());
    let events = stream::poll_fn(move |context| {
        let _ = work.poll_unpin(context);
        events.poll_recv(context).map(|event| event.map(Ok::<Event, Infallible>))
    });
    ([UNBUFFERED], Sse::new(events)).into_response()
}
