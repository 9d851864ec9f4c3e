//! Fields of a request, read one by one, with errors that name the field and its valid values.

use std::fmt;
use std::time::Duration;

use kalah_base::printable::printable;
use kalah_core::game::{Pit, Position, Rules};
use serde::Deserialize;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde_json::{Number, Value};

use super::error::{ApiError, Code};

/// Maximum seeds in play of a position in a request.
pub(crate) const MAX_SEEDS: u32 = 400;

/// Maximum characters of a board literal.
const MAX_LITERAL: usize = 256;

/// Maximum moves of a line.
pub(crate) const MAX_MOVES: usize = 1000;

/// Maximum characters of a wrong value that are shown.
const MAX_QUOTED: usize = 60;

/// Fields of a query or of a body.
pub(crate) struct Fields {
    fields: Vec<(String, Value)>,
    /// True if they come from a query, where all values are strings.
    query: bool,
}

/// A time.
#[derive(Deserialize)]
#[serde(try_from = "f64")]
struct Seconds(Duration);

impl TryFrom<f64> for Seconds {
    type Error = &'static str;

    fn try_from(seconds: f64) -> Result<Seconds, &'static str> {
        // A time too large for `Duration` is above every limit.
        let time = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        if seconds >= 0.0 { Ok(Seconds(time)) } else { Err("a negative time") }
    }
}

/// Single moves: in JSON an array of numbers, elsewhere a text with commas.
#[derive(Deserialize)]
#[serde(untagged)]
enum Moves {
    Text(String),
    Numbers(Vec<Number>),
}

/// Fields of a JSON object in the order of the text, including repeated ones.
struct Object(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Object, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Object(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// Writes all whole numbers as such: JSON has one type of number, so 3.0 is 3.
fn write_whole(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let float = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0);
            if let Some(float) = float.filter(|float| (0.0..u64::MAX as f64).contains(float)) {
                *number = (float as u64).into();
            }
        }
        Value::Array(values) => values.iter_mut().for_each(write_whole),
        Value::Object(fields) => fields.values_mut().for_each(write_whole),
        _ => {}
    }
}

/// Parses a position that is not too large.
pub(crate) fn parse_position(literal: &str) -> Result<Position, ApiError> {
    if literal.len() > MAX_LITERAL {
        let length = literal.len();
        let why = format_args!("the board literal has {length} characters; at most {MAX_LITERAL} are allowed");
        return Err(ApiError::new(Code::Board, why));
    }
    let position: Position = literal.parse()?;
    let seeds = position.seeds();
    if seeds > MAX_SEEDS {
        let why = format_args!("the position has {seeds} seeds in play; at most {MAX_SEEDS} are allowed");
        return Err(ApiError::new(Code::LargePosition, why));
    }
    Ok(position)
}

/// Parses a position that is not too large. The first module of a page has no code for words about others.
pub(crate) fn position_of(literal: &str) -> Option<Position> {
    let position: Position = literal.parse().ok().filter(|_| literal.len() <= MAX_LITERAL)?;
    (position.seeds() <= MAX_SEEDS).then_some(position)
}

impl Fields {
    /// Reads the fields of a query. `known` are all that it may have, at least two.
    pub(crate) fn of_query(query: &str, known: &[&str]) -> Result<Fields, ApiError> {
        let pairs: Result<Vec<(String, String)>, _> = serde_urlencoded::from_str(query);
        let pairs = pairs.map_err(|_| ApiError::request("the query is not of the form field=value&field=value"))?;
        let fields = pairs.into_iter().map(|(name, text)| (name, Value::String(text))).collect();
        Fields { fields, query: true }.checked(known)
    }

    /// Reads the fields of a JSON body. `known` are all that it may have, at least two.
    pub(crate) fn of_body(body: &[u8], known: &[&str]) -> Result<Fields, ApiError> {
        const FORM: &str = r#"send an object such as {"board": "6x4"}"#;
        let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
        if body.trim_ascii().is_empty() {
            return Err(ApiError::request(format_args!("the body is empty; {FORM}")));
        }
        let Object(mut fields) = serde_json::from_slice(body).map_err(|error| {
            if error.is_data() {
                let text = printable(&String::from_utf8_lossy(body), MAX_QUOTED);
                return ApiError::request(format_args!("the body is {text}; it must be an object"));
            }
            ApiError::request(format_args!(
                "the body is not valid JSON (line {}, column {}); {FORM}",
                error.line(),
                error.column()
            ))
        })?;
        fields.iter_mut().for_each(|(_, value)| write_whole(value));
        Fields { fields, query: false }.checked(known)
    }

    /// Returns the fields if all of them are known and no field is repeated.
    fn checked(self, known: &[&str]) -> Result<Fields, ApiError> {
        for (index, (name, _)) in self.fields.iter().enumerate() {
            let shown = printable(name, MAX_QUOTED);
            if !known.contains(&name.as_str()) {
                let part = if self.query { "query" } else { "body" };
                let (last, others) = known.split_last().expect("there are some");
                let known = others.join(", ");
                return Err(ApiError::request(format_args!(
                    "'{shown}' is not a field of this {part}; the fields are {known} and {last}"
                )));
            }
            if self.fields[..index].iter().any(|(other, _)| other == name) {
                return Err(ApiError::request(format_args!("'{shown}' is given twice")));
            }
        }
        Ok(self)
    }

    /// Takes the value of a field, unless it is missing or null.
    fn take(&mut self, name: &str) -> Option<Value> {
        let index = self.fields.iter().position(|(other, _)| other == name)?;
        Some(self.fields.swap_remove(index).1).filter(|value| !value.is_null())
    }

    /// Takes a value, a number of a query as JSON writes it; `None` if the field is missing. `form` is the end of the
    /// error.
    pub(crate) fn typed<T: DeserializeOwned>(&mut self, name: &str, form: &str) -> Result<Option<T>, ApiError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let of_text = || value.as_str().filter(|_| self.query).and_then(|text| serde_json::from_str(text).ok());
        let shown = printable(&value.to_string(), MAX_QUOTED);
        let wrong = || ApiError::request(format_args!("'{name}' is {shown}; it must be {form}"));
        T::deserialize(&value).ok().or_else(of_text).map(Some).ok_or_else(wrong)
    }

    /// Takes a string; `None` if the field is missing.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, ApiError> {
        self.typed(name, "a string")
    }

    /// Takes single moves on a board of this many pits a side, which may not be legal: an array of numbers, or a string
    /// with commas; none if the field is missing.
    pub(crate) fn moves(&mut self, pits: usize) -> Result<Vec<Pit>, ApiError> {
        let moves: Vec<String> = match self.typed("moves", "an array of numbers such as [3, 6]")? {
            None => Vec::new(),
            Some(Moves::Numbers(numbers)) => numbers.iter().map(Number::to_string).collect(),
            Some(Moves::Text(text)) => {
                text.split(',').filter(|text| !text.is_empty()).map(|text| printable(text, MAX_QUOTED)).collect()
            }
        };
        if moves.len() > MAX_MOVES {
            let why = format_args!("the line has {} moves, but the limit is {MAX_MOVES}", moves.len());
            return Err(ApiError::new(Code::Line, why));
        }
        let pit = |(index, text): (usize, &String)| {
            let pit = text.parse().ok().and_then(Pit::from_number).filter(|pit| pit.index() < pits);
            pit.ok_or_else(|| ApiError::of_move(index, text, format_args!("moves are numbers from 1 to {pits}")))
        };
        moves.iter().enumerate().map(pit).collect()
    }

    /// Takes the text of a position.
    pub(crate) fn board(&mut self) -> Result<String, ApiError> {
        self.text("board")?.ok_or_else(|| ApiError::request("'board' is missing; it must be a position such as 6x4"))
    }

    /// Takes the texts of at most `most` positions.
    pub(crate) fn boards(&mut self, most: usize) -> Result<Vec<String>, ApiError> {
        const FORM: &str = r#"an array of positions such as ["6x4"]"#;
        let boards: Option<Vec<String>> = self.typed("boards", FORM)?;
        let boards = boards.ok_or_else(|| ApiError::request(format_args!("'boards' is missing; it must be {FORM}")))?;
        if boards.len() > most {
            return Err(ApiError::request(format_args!(
                "'boards' has {} positions; at most {most} are allowed",
                boards.len()
            )));
        }
        Ok(boards)
    }

    /// Takes a position.
    pub(crate) fn position(&mut self) -> Result<Position, ApiError> {
        parse_position(&self.board()?)
    }

    /// Takes a rule set, the default one if the field is missing.
    pub(crate) fn rules(&mut self) -> Result<Rules, ApiError> {
        Ok(self.text("rules")?.map_or(Ok(Rules::default()), |rules| rules.parse())?)
    }

    /// Takes a time; `None` if the field is missing.
    pub(crate) fn time(&mut self) -> Result<Option<Duration>, ApiError> {
        let time = self.typed("time", "a number of seconds, 0 or more")?;
        Ok(time.map(|Seconds(time)| time))
    }
}
