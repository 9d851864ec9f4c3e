//! Answers of the first module: lines of play, and moves of players that use no tables.

use std::time::Duration;

use kalah_api::{ApiError, MoveRequest, follow_line};
use serde::{Deserialize, Serialize};

/// Maximum time of a move, which blocks all other requests.
const TIME: Duration = Duration::from_secs(1);

/// A request of the HTTP API: its method, its target after `/api/`, its body.
#[derive(Debug, Deserialize)]
struct Request {
    method: String,
    target: String,
    body: String,
}

/// An answer with its status.
#[derive(Serialize)]
struct Reply<T> {
    status: u16,
    answer: T,
}

/// Answers a request; `null` if it needs the engine.
pub(super) fn answer(call: &[u8]) -> String {
    let Ok(Request { method, target, body }) = serde_json::from_slice(call) else { return "null".to_owned() };
    request(&method, &target, body.as_bytes()).unwrap_or_else(|error| replied(error.kind().0, error.document()))
}

fn request(method: &str, target: &str, body: &[u8]) -> Result<String, ApiError> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Ok(match (method, path) {
        ("GET", "line") => replied(200, follow_line(query)?),
        ("POST", "move") => {
            let request = MoveRequest::read(body)?;
            match request.without_tables(request.time.unwrap_or(TIME).min(TIME))? {
                Some(answer) => replied(200, answer),
                None => "null".to_owned(),
            }
        }
        _ => "null".to_owned(),
    })
}

fn replied(status: u16, answer: impl Serialize) -> String {
    serde_json::to_string(&Reply { status, answer }).expect("documents of the API are JSON")
}
