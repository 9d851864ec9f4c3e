//! Fields of requests. A structure for each request names them; serde reports unknown, repeated and missing ones.

use std::time::Duration;

use kalah_base::printable::printable;
use kalah_core::game::{Pit, Position, Rules};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};

use super::ApiError;
use super::error::{MAX_LITERAL, MAX_MOVES, MAX_SEEDS};

/// Maximum characters of a wrong value, and of an error that may contain some, that are shown.
const MAX_QUOTED: usize = 60;
const MAX_SHOWN: usize = 300;

/// Single moves, which may not be legal: an array of numbers, or a string with commas.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "'moves' must be an array of numbers such as [3, 6]")]
pub(crate) enum Moves {
    Text(String),
    Numbers(Vec<f64>),
}

/// Comment in a game, after a number of moves.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Comment {
    pub after: usize,
    pub text: String,
}

/// Reads the fields of a query.
pub(crate) fn of_query<T: DeserializeOwned>(query: &str) -> Result<T, ApiError> {
    serde_urlencoded::from_str(query).map_err(|error| bad("the query", error.to_string()))
}

/// Reads the fields of a JSON body.
pub(crate) fn of_body<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
    // A structure would be read from an array, too.
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err(bad("the body", r#"it must be an object such as {"board": "6x4"}"#.to_owned()));
    }
    serde_json::from_slice(body).map_err(|error| bad("the body", error.to_string()))
}

fn bad(part: &str, why: String) -> ApiError {
    ApiError::Request(format!("{part}: {}", printable(&why, MAX_SHOWN)))
}

/// Reads a time in seconds, for serde.
pub(crate) fn seconds<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let wrong = || D::Error::custom("'time' must be a number of seconds, 0 or more");
    match Option::<f64>::deserialize(from).map_err(|_| wrong())? {
        // A time too large for `Duration` is above every limit.
        Some(seconds) if seconds >= 0.0 => Ok(Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))),
        Some(_) => Err(wrong()),
        None => Ok(None),
    }
}

/// Parses a position that is not too large.
pub(crate) fn parse_position(literal: &str) -> Result<Position, ApiError> {
    if literal.len() > MAX_LITERAL {
        return Err(ApiError::LongLiteral(literal.len()));
    }
    let position: Position = literal.parse()?;
    if position.seeds() > MAX_SEEDS { Err(ApiError::Large(position.seeds())) } else { Ok(position) }
}

/// Parses a rule set; the default one if the field is missing.
pub(crate) fn parse_rules(name: Option<String>) -> Result<Rules, ApiError> {
    Ok(name.map_or(Ok(Rules::default()), |name| name.parse())?)
}

/// Reads single moves on a board of this many pits a side; none if the field is missing.
pub(crate) fn parse_moves(moves: Option<Moves>, pits: usize) -> Result<Vec<Pit>, ApiError> {
    let moves: Vec<String> = match moves {
        None => Vec::new(),
        Some(Moves::Text(text)) => {
            text.split(',').filter(|text| !text.is_empty()).map(|text| printable(text, MAX_QUOTED)).collect()
        }
        // JSON has one type of number, so 3.0 is 3.
        Some(Moves::Numbers(numbers)) => numbers.iter().map(f64::to_string).collect(),
    };
    if moves.len() > MAX_MOVES {
        return Err(ApiError::Line(format!("the line has {} moves, but the limit is {MAX_MOVES}", moves.len())));
    }
    let pit = |(index, text): (usize, &String)| {
        let pit = text.parse().ok().and_then(Pit::from_number).filter(|pit| pit.index() < pits);
        pit.ok_or_else(|| ApiError::of_move(index, text, format_args!("moves are numbers from 1 to {pits}")))
    };
    moves.iter().enumerate().map(pit).collect()
}
