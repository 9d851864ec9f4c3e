//! The fields of a request, read one by one: what is wrong with one is told in words of this API.

use std::fmt;

use axum::extract::Query;
use axum::http::Uri;
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;

use super::ApiError;
use crate::printable::printable;

/// What the fields hold; where one is missing or wrong, its error says so.
const BOARD: &str = "a position such as 6x4";
const SECONDS: &str = "it must be a number of seconds, 0 or more";

/// The most characters that are shown of a wrong value.
const MAX_QUOTED: usize = 60;

/// The fields of a query or of a body.
pub(super) struct Fields {
    fields: Vec<(String, Value)>,
    /// Whether they come from the query, where all values are texts.
    query: bool,
}

/// A JSON object as it is written, with fields in order, also those that it has twice.
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

/// What a value is, as the subject's complement: "'time' is a text".
fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(_) => "a number".to_owned(),
        Value::String(_) => "a text".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn bad(why: impl Into<String>) -> ApiError {
    ApiError::Request(why.into())
}

impl Fields {
    /// Those of an address. All that it may have are `known`, two at least.
    pub fn of_query(address: &Uri, known: &[&str]) -> Result<Fields, ApiError> {
        let pairs = Query::<Vec<(String, String)>>::try_from_uri(address);
        let Query(pairs) = pairs.map_err(|_| bad("the query is not of the form field=value&field=value"))?;
        let fields = pairs.into_iter().map(|(name, text)| (name, Value::String(text))).collect();
        Fields { fields, query: true }.checked(known)
    }

    /// Those of a JSON body. All that it may have are `known`, two at least.
    pub fn of_body(body: &[u8], known: &[&str]) -> Result<Fields, ApiError> {
        const FORM: &str = r#"send an object such as {"board": "6x4"}"#;
        if body.trim_ascii().is_empty() {
            return Err(bad(format!("the body is empty; {FORM}")));
        }
        let value: Value = serde_json::from_slice(body).map_err(|error| {
            bad(format!("the body is no JSON from line {}, column {} on; {FORM}", error.line(), error.column()))
        })?;
        let object = serde_json::from_slice(body);
        let Object(fields) = object.map_err(|_| bad(format!("the body is {}; it must be an object", kind(&value))))?;
        Fields { fields, query: false }.checked(known)
    }

    /// The same, if all fields are known and none is there twice.
    fn checked(self, known: &[&str]) -> Result<Fields, ApiError> {
        for (index, (name, _)) in self.fields.iter().enumerate() {
            if self.query && name.is_empty() {
                continue;
            }
            let shown = printable(name, MAX_QUOTED);
            if !known.contains(&name.as_str()) {
                let part = if self.query { "query" } else { "body" };
                let (last, others) = known.split_last().expect("there are some");
                let known = format!("{} and {last}", others.join(", "));
                return Err(bad(format!("there is no '{shown}'; the {part} of this address has {known}")));
            }
            if self.fields[..index].iter().any(|(other, _)| other == name) {
                return Err(bad(format!("'{shown}' is given twice")));
            }
        }
        Ok(self)
    }

    /// A field that is there and not null.
    fn take(&mut self, name: &str) -> Option<Value> {
        let index = self.fields.iter().position(|(other, _)| other == name)?;
        Some(self.fields.swap_remove(index).1).filter(|value| !value.is_null())
    }

    /// A text, if it is there.
    pub fn text(&mut self, name: &str) -> Result<Option<String>, ApiError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(value) => Err(bad(format!("'{name}' is {}; it must be a text", kind(&value)))),
        }
    }

    /// The text of a position.
    pub fn board(&mut self) -> Result<String, ApiError> {
        self.text("board")?.ok_or_else(|| bad(format!("'board' is missing: {BOARD}")))
    }

    /// A number of seconds, if it is there.
    pub fn seconds(&mut self, name: &str) -> Result<Option<f64>, ApiError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let (seconds, shown) = match &value {
            Value::String(text) if self.query => (text.parse().ok(), format!("'{}'", printable(text, MAX_QUOTED))),
            Value::Number(number) => (number.as_f64(), number.to_string()),
            value => (None, kind(value)),
        };
        let seconds = seconds.filter(|&seconds| seconds >= 0.0);
        seconds.map(Some).ok_or_else(|| bad(format!("'{name}' is {shown}; {SECONDS}")))
    }
}
