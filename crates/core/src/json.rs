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
