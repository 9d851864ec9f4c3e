//! Requests about a position, and about many.

use std::time::Duration;

use kalah_core::cancel::Cancel;
use kalah_core::game::{Position, Rules};
use serde::Serialize;

use super::answer::{Ended, PositionAnswer, SearchAnswer};
use super::error::{ApiError, Code, ErrorAnswer};
use super::fields::{Fields, parse_position};
use super::searcher::{Search, Searcher};

/// Request about a position: `GET /api/position`, `/api/search` or `/api/book`.
#[derive(Clone, Copy, Debug)]
pub struct PositionRequest {
    /// The rule set.
    pub rules: Rules,
    /// The position.
    pub position: Position,
    /// The requested time of a search.
    pub time: Option<Duration>,
}

impl PositionRequest {
    /// Reads the query of `/api/position` or `/api/search`.
    ///
    /// # Errors
    /// If a field is missing, unknown or wrong, or the position is too large.
    pub fn read(query: &str) -> Result<PositionRequest, ApiError> {
        let mut fields = Fields::of_query(query, &["board", "rules", "time"])?;
        Ok(PositionRequest { position: fields.position()?, rules: fields.rules()?, time: fields.time()? })
    }

    /// Reads the query of `/api/book`, which has no time.
    ///
    /// # Errors
    /// As [`PositionRequest::read`].
    pub fn read_untimed(query: &str) -> Result<PositionRequest, ApiError> {
        let mut fields = Fields::of_query(query, &["board", "rules"])?;
        Ok(PositionRequest { position: fields.position()?, rules: fields.rules()?, time: None })
    }

    /// Prepares a search in slices.
    ///
    /// # Errors
    /// If a table is damaged.
    pub fn begin<'t>(&self, searcher: &mut Searcher<'t>, cancel: &Cancel) -> Result<Search<'t>, ApiError> {
        searcher.begin(self.rules, &self.position, cancel)
    }

    /// Returns the answer of a search that was not necessary.
    pub fn known_at_once(known: PositionAnswer, seconds: f64) -> SearchAnswer {
        SearchAnswer { known, nodes: 0, seconds, ended: Some(Ended::Proved) }
    }
}

/// Maximum positions of a request.
const MAX_POSITIONS: usize = 1000;

/// Request about many positions: `POST /api/positions`. No position is searched.
#[derive(Debug)]
pub struct PositionsRequest {
    rules: Rules,
    positions: Vec<Result<Position, ApiError>>,
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
    /// Reads the body.
    ///
    /// # Errors
    /// If a field is missing, unknown or wrong, or there are too many positions. A board that is not a position is an
    /// error of its own answer only.
    pub fn read(body: &[u8]) -> Result<PositionsRequest, ApiError> {
        let mut fields = Fields::of_body(body, &["boards", "rules"])?;
        let (boards, rules) = (fields.boards(MAX_POSITIONS)?, fields.rules()?);
        Ok(PositionsRequest { rules, positions: boards.iter().map(|board| parse_position(board)).collect() })
    }

    /// Answers about all positions that `known` answers. Its errors are those of single answers, which `report` gets,
    /// too.
    pub fn answer(
        self,
        mut known: impl FnMut(Rules, &Position) -> Result<Option<PositionAnswer>, ApiError>,
        mut report: impl FnMut(&ApiError),
    ) -> PositionsAnswer {
        let not_known =
            || ApiError::new(Code::NotKnown, "no table and no book has this position; /api/position searches it");
        let one = |position: Result<Position, ApiError>| {
            let answer = position.and_then(|position| {
                let answer = known(self.rules, &position).and_then(|known| known.ok_or_else(not_known));
                answer.inspect_err(&mut report)
            });
            answer.map_or_else(|error| OneAnswer::Error(error.into()), |known| OneAnswer::Known(Box::new(known)))
        };
        PositionsAnswer { rules: self.rules.name(), positions: self.positions.into_iter().map(one).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_has_a_limited_number_of_texts() {
        let read = |body: &str| PositionsRequest::read(body.as_bytes());
        let many = |count: usize| format!(r#"{{"boards": [{}]}}"#, vec![r#""1x1""#; count].join(","));
        assert_eq!(read(&many(MAX_POSITIONS)).unwrap().positions.len(), MAX_POSITIONS);
        for (body, why) in [
            (many(MAX_POSITIONS + 1), "at most 1000"),
            (r#"{"boards": "6x4"}"#.to_owned(), "array"),
            (r#"{"boards": ["6x4", 3]}"#.to_owned(), r#"is ["6x4",3]"#),
            (r#"{"boards": ["6x4"], "time": 1}"#.to_owned(), "'time' is not a field"),
            ("{}".to_owned(), "'boards' is missing"),
        ] {
            let error = read(&body).unwrap_err();
            assert!(error.code == Code::Request && error.to_string().contains(why), "{error}");
        }
    }
}
