//! Fields of requests: of queries, and of JSON bodies.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use kalah_core::game::{Pit, Position};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};

use super::error::ApiError;

/// Maximum seeds in play of a position in a request.
pub(crate) const MAX_SEEDS: u32 = 400;

/// Maximum characters of a board literal.
const MAX_LITERAL: usize = 256;

/// Maximum moves of a line.
pub(crate) const MAX_MOVES: usize = 1000;

/// Reads the fields of a query, such as those of a [`PositionRequest`](super::PositionRequest).
///
/// # Errors
/// If a field is missing, unknown or wrong.
pub fn read_query<T: DeserializeOwned>(query: &str) -> Result<T, ApiError> {
    serde_urlencoded::from_str(query).map_err(ApiError::request)
}

/// Reads the fields of a JSON body.
pub(crate) fn of_body<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(body).map_err(ApiError::request)
}

/// Parses a position that is not too large.
pub(crate) fn parse_position(literal: &str) -> Result<Position, String> {
    if literal.len() > MAX_LITERAL {
        return Err(format!("a position has at most {MAX_LITERAL} characters"));
    }
    let position: Position = literal.parse().map_err(|error| format!("{error}"))?;
    if position.seeds() > MAX_SEEDS {
        return Err(format!("the position has {} seeds in play, but the limit is {MAX_SEEDS}", position.seeds()));
    }
    Ok(position)
}

/// Parses a position that is not too large. The first module of a page has no code for words about others.
pub(crate) fn position_of(literal: &str) -> Option<Position> {
    let position: Position = literal.parse().ok().filter(|_| literal.len() <= MAX_LITERAL)?;
    (position.seeds() <= MAX_SEEDS).then_some(position)
}

/// Reads a field that is a position.
pub(crate) fn position<'de, D: Deserializer<'de>>(field: D) -> Result<Position, D::Error> {
    parse_position(&String::deserialize(field)?).map_err(D::Error::custom)
}

/// Reads a field by its text.
pub(crate) fn parsed<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(field: D) -> Result<T, D::Error> {
    String::deserialize(field)?.parse().map_err(D::Error::custom)
}

/// Reads a field that is a number of seconds.
pub(crate) fn seconds<'de, D: Deserializer<'de>>(field: D) -> Result<Option<Duration>, D::Error> {
    let seconds = f64::deserialize(field)?;
    if seconds >= 0.0 {
        // A time too large for `Duration` is above every limit.
        Ok(Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)))
    } else {
        Err(D::Error::custom("a time must be a number of seconds, 0 or more"))
    }
}

/// Returns the moves of these numbers on a board of this many pits a side; `None` if there are too many, or one is no
/// pit.
pub(crate) fn moves_of(pits: usize, numbers: impl Iterator<Item = Option<usize>>) -> Option<Vec<Pit>> {
    let pit = |number: Option<usize>| Pit::from_number(number?).filter(|pit| pit.index() < pits);
    numbers.map(pit).collect::<Option<Vec<Pit>>>().filter(|moves| moves.len() <= MAX_MOVES)
}

/// As [`moves_of`], with an error in place of `None`.
pub(crate) fn read_moves(pits: usize, numbers: impl Iterator<Item = Option<usize>>) -> Result<Vec<Pit>, ApiError> {
    let why = || ApiError::request(format_args!("moves are at most {MAX_MOVES} numbers from 1 to {pits}"));
    moves_of(pits, numbers).ok_or_else(why)
}

/// Returns the numbers in a text with commas.
pub(crate) fn numbers(text: &str) -> impl Iterator<Item = Option<usize>> {
    text.split(',').filter(|number| !number.is_empty()).map(|number| number.parse().ok())
}
