use std::error::Error;

use kalah_core::game::{Position, Rules};
use kalah_tables::table::TableKey;
use serde::Deserialize;
use serde_json::json;

use super::session::Session;

/// A request. Positions are texts, as in [`Position`]'s `FromStr`.
#[derive(Debug, Deserialize)]
#[serde(tag = "call", rename_all = "lowercase")]
pub(super) enum Request {
    /// Chooses rule set and board, before any other request.
    Open {
        rules: String,
        pits: usize,
        /// Seeds of the largest layer that can be built.
        seeds: usize,
        /// Maximum bytes of the transposition table.
        transpositions: u64,
    },
    /// Builds the next layer. The answer is `null` if all are built.
    Build,
    /// Looks up a position in the tables or the book: the document of `kalah probe --json`.
    Probe { position: String },
    /// Searches a position for this time: the document of `kalah solve --json`. If the value was
    /// not proved, it has bounds.
    Solve { position: String, seconds: f64 },
}

/// Answers a request: a document, or an object with an `error`.
pub(super) fn answer(session: &mut Option<Session>, request: &[u8]) -> String {
    let answered = serde_json::from_slice(request).map_err(Into::into).and_then(|request| respond(session, request));
    answered.unwrap_or_else(|error| json!({ "error": error.to_string() }).to_string())
}

fn respond(session: &mut Option<Session>, request: Request) -> Result<String, Box<dyn Error>> {
    if let Request::Open { rules, pits, seeds, transpositions } = request {
        let rules: Rules = rules.parse()?;
        *session = Some(Session::new(TableKey { rules, pits, seeds }, transpositions)?);
        return Ok("null".to_owned());
    }
    let session = session.as_mut().ok_or("the first request must be \"open\"")?;
    Ok(match request {
        Request::Open { .. } | Request::Build => serde_json::to_string(&session.build()?)?,
        Request::Probe { position } => serde_json::to_string(&session.probe(&session.position(&position)?)?)?,
        Request::Solve { position, seconds } => {
            let position = session.position(&position)?;
            serde_json::to_string(&session.solve(&position, seconds)?)?
        }
    })
}

impl Session {
    /// Parses a position of this session's board.
    fn position(&self, text: &str) -> Result<Position, Box<dyn Error>> {
        let position: Position = text.parse()?;
        let (found, expected) = (position.pits(), self.pits());
        if found == expected {
            Ok(position)
        } else {
            Err(format!("{text} has {found} pits a side, not {expected}").into())
        }
    }
}
