//! JSON of positions and their parts, as the commands print it: the feature `serde`.
//!
//! | type | JSON |
//! |---|---|
//! | [`Position`], [`StartPosition`] | its text, in any form when read: `"<6,0,0,4,..>"`, `"6x4"` |
//! | [`Rules`] | its name |
//! | [`Pit`] | the number of the move, from 1 |
//! | [`Line`] | its text; it cannot be read alone, since the board decides how moves are separated |
//! | [`TableKey`] | `{"rules": .., "pits": .., "seeds": ..}` |

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::game::{Line, MAX_PITS, Pit, Position, Rules, StartPosition};
use crate::table::TableKey;

macro_rules! written_as_text {
    ($($type:ty),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
                writer.collect_str(self)
            }
        }
    )*};
}

macro_rules! read_from_text {
    ($($type:ty),*) => {$(
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<$type, D::Error> {
                String::deserialize(reader)?.parse().map_err(D::Error::custom)
            }
        }
    )*};
}

written_as_text!(Line, Position, Rules, StartPosition);
read_from_text!(Position, Rules, StartPosition);

impl Serialize for Pit {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        self.number().serialize(writer)
    }
}

impl<'de> Deserialize<'de> for Pit {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Pit, D::Error> {
        let number = usize::deserialize(reader)?;
        let wrong = || D::Error::custom(format_args!("{number} is not the number of a pit, 1 to {MAX_PITS}"));
        Pit::from_number(number).ok_or_else(wrong)
    }
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
        #[derive(Deserialize)]
        struct Key {
            rules: Rules,
            pits: usize,
            seeds: usize,
        }
        let Key { rules, pits, seeds } = Key::deserialize(reader)?;
        let key = TableKey { rules, pits, seeds };
        if key.is_possible() { Ok(key) } else { Err(D::Error::custom(format_args!("there is no table of {key}"))) }
    }
}
