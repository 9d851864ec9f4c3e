//! JSON of positions and their parts, as the commands print it: the feature `serde`.
//!
//! | type | JSON |
//! |---|---|
//! | [`Position`], [`StartPosition`] | its text, in any form when read: `"<6,0,0,4,..>"`, `"6x4"` |
//! | [`Rules`] | its name |
//! | [`Pit`] | the number of the move, from 1 |
//! | [`Line`] | its text; it cannot be read alone, since the board decides how moves are separated |
//! | [`TableKey`] | `{"rules": .., "pits": .., "seeds": ..}` |

use std::fmt::Display;
use std::str::FromStr;

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::game::{Line, MAX_PITS, Pit, Position, Rules, StartPosition};
use crate::table::TableKey;

/// Reads a value from its text.
fn from_text<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(reader: D) -> Result<T, D::Error> {
    String::deserialize(reader)?.parse().map_err(D::Error::custom)
}

macro_rules! as_text {
    ($($type:ty),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
                writer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<$type, D::Error> {
                from_text(reader)
            }
        }
    )*};
}

as_text!(Position, Rules, StartPosition);

impl Serialize for Line {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        writer.collect_str(self)
    }
}

impl Serialize for Pit {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        self.number().serialize(writer)
    }
}

impl<'de> Deserialize<'de> for Pit {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Pit, D::Error> {
        let number = u64::deserialize(reader)?;
        let pit = usize::try_from(number).ok().and_then(Pit::from_number);
        let expected = format!("the number of a pit, 1 to {MAX_PITS}");
        pit.ok_or_else(|| D::Error::invalid_value(Unexpected::Unsigned(number), &expected.as_str()))
    }
}

/// The fields of a [`TableKey`] that was not checked.
#[derive(Deserialize)]
struct Key {
    rules: Rules,
    pits: usize,
    seeds: usize,
}

impl TableKey {
    /// Writes only the seeds of a layer, for documents about one board.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn serialize_seeds<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        self.seeds.serialize(writer)
    }
}

impl<'de> Deserialize<'de> for TableKey {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<TableKey, D::Error> {
        let Key { rules, pits, seeds } = Key::deserialize(reader)?;
        let key = TableKey { rules, pits, seeds };
        if key.is_possible() { Ok(key) } else { Err(D::Error::custom(format_args!("there is no table of {key}"))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn returns<T: Serialize + for<'de> Deserialize<'de> + PartialEq + std::fmt::Debug>(value: T, json: &str) {
        assert_eq!(serde_json::to_string(&value).unwrap(), json);
        assert_eq!(serde_json::from_str::<T>(json).unwrap(), value);
    }

    #[test]
    fn texts_and_numbers_are_those_that_commands_print() {
        let position: Position = "3x2".parse().unwrap();
        returns(position, r#""<3,0,0,2,2,2,2,2,2>""#);
        assert_eq!(serde_json::from_str::<Position>(r#""3x2""#).unwrap(), position);
        returns(StartPosition { pits: 6, seeds: 4 }, r#""6x4""#);
        for rules in Rules::ALL {
            returns(rules, &format!("{:?}", rules.name()));
        }
        returns(Pit::from_number(16).unwrap(), "16");
        let key = TableKey { rules: Rules::Standard, pits: 6, seeds: 24 };
        returns(key, r#"{"rules":"standard","pits":6,"seeds":24}"#);
        assert_eq!(serde_json::to_string(&Line::parse(12, "11,3 2").unwrap()).unwrap(), r#""11,3 2""#);
    }

    #[test]
    fn impossible_values_are_errors_that_name_them() {
        let error = |read: serde_json::Error| read.to_string();
        for (text, expected) in [("0", "`0`, expected the number of a pit"), ("17", "`17`"), ("-1", "-1")] {
            let message = error(serde_json::from_str::<Pit>(text).unwrap_err());
            assert!(message.contains(expected), "{message}");
        }
        assert!(error(serde_json::from_str::<Position>(r#""17x1""#).unwrap_err()).contains("17 pits a side"));
        assert!(error(serde_json::from_str::<Rules>(r#""oware""#).unwrap_err()).contains("oware"));
        for (pits, seeds) in [(0, 2), (9, 2), (6, 1), (6, 49)] {
            let json = format!(r#"{{"rules":"standard","pits":{pits},"seeds":{seeds}}}"#);
            assert!(error(serde_json::from_str::<TableKey>(&json).unwrap_err()).contains("no table"), "{json}");
        }
    }
}
