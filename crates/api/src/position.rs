//! Requests about a position, and about many.

use std::time::Duration;

use kalah_core::game::{Position, Rules};
use serde::{Deserialize, Serialize};

use super::answer::PositionAnswer;
use super::error::{ApiError, Code, ErrorAnswer};
use super::fields::{of_body, parse_position, parsed, position, seconds};
use super::searcher::Sources;

/// Request about a position: `GET /api/position`, `/api/search` or `/api/book`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PositionRequest {
    /// The rule set.
    #[serde(default, deserialize_with = "parsed")]
    pub rules: Rules,
    /// The position.
    #[serde(rename = "board", deserialize_with = "position")]
    pub position: Position,
    /// The requested time of a search.
    #[serde(default, deserialize_with = "seconds")]
    pub time: Option<Duration>,
}

/// Maximum positions of a request.
const MAX_POSITIONS: usize = 1000;

/// Request about many positions: `POST /api/positions`. No position is searched.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PositionsRequest {
    boards: Vec<String>,
    #[serde(default, deserialize_with = "parsed")]
    rules: Rules,
}

/// Answer about one of many positions: that of `GET /api/position`, or the reason for its absence.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
enum OneAnswer {
    Known(Box<PositionAnswer>),
    Error(ErrorAnswer),
}

/// Answer about many positions, in the order of the request.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PositionsAnswer {
    rules: &'static str,
    positions: Vec<OneAnswer>,
}

impl PositionsRequest {
    /// Reads the body. A board that is not a position is an error of its own answer only.
    ///
    /// # Errors
    /// If a field is missing, unknown or wrong, or there are too many positions.
    pub fn read(body: &[u8]) -> Result<PositionsRequest, ApiError> {
        let request: PositionsRequest = of_body(body)?;
        if request.boards.len() > MAX_POSITIONS {
            return Err(ApiError::request(format_args!("a request has at most {MAX_POSITIONS} positions")));
        }
        Ok(request)
    }

    /// Answers about all positions, without a search.
    pub fn answer(&self, sources: Sources<'_>) -> PositionsAnswer {
        let one = |board: &String| {
            let position = parse_position(board).map_err(ApiError::request)?;
            let not_known = || ApiError::new(Code::NotFound, "no table and no book has this position");
            sources.at_once(self.rules, &position)?.ok_or_else(not_known)
        };
        let answer = |board| match one(board) {
            Ok(known) => OneAnswer::Known(Box::new(known)),
            Err(error) => OneAnswer::Error(ErrorAnswer { error }),
        };
        PositionsAnswer { rules: self.rules.name(), positions: self.boards.iter().map(answer).collect() }
    }
}
