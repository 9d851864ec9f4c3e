//! JSON of positions and answers, as the commands print it: the feature `serde`.
//!
//! | type | JSON |
//! |---|---|
//! | [`Position`], [`StartPosition`] | its text, in any form when read: `"<6,0,0,4,..>"`, `"6x4"` |
//! | [`Rules`] | its name |
//! | [`Pit`] | the number of the move, from 1 |
//! | [`Line`] | its text; it is not read, since the board decides how moves are separated |
//! | [`TableKey`] | `{"rules": .., "pits": .., "seeds": ..}` |
//! | [`Probe`] | the document of `kalah probe --json`; it is not read |

use std::fmt::Display;
use std::str::FromStr;

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::game::{Line, MAX_PITS, Pit, Position, Rules, StartPosition};
use crate::table::{Probe, TableKey};

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

/// The fields of a [`TableKey`].
#[derive(Serialize, Deserialize)]
struct Key {
    rules: Rules,
    pits: usize,
    seeds: usize,
}

impl Serialize for TableKey {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        let &TableKey { rules, pits, seeds } = self;
        Key { rules, pits, seeds }.serialize(writer)
    }
}

impl<'de> Deserialize<'de> for TableKey {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<TableKey, D::Error> {
        let Key { rules, pits, seeds } = Key::deserialize(reader)?;
        let key = TableKey { rules, pits, seeds };
        if key.is_possible() { Ok(key) } else { Err(D::Error::custom(format_args!("there is no table of {key}"))) }
    }
}

/// A move with the mover's score after it.
#[derive(Serialize)]
struct MoveScore {
    r#move: Pit,
    score: u32,
}

/// The document of a [`Probe`].
#[derive(Serialize)]
struct Written<'p> {
    position: &'p Position,
    seeds: u32,
    score: u32,
    value: i64,
    moves: Vec<MoveScore>,
    best: Vec<Pit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<&'p Line>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    finished: bool,
}

impl Serialize for Probe {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        let moves = self.moves.iter().map(|&(r#move, score)| MoveScore { r#move, score }).collect();
        Written {
            position: &self.position,
            seeds: self.position.seeds(),
            score: self.score,
            value: self.value,
            moves,
            best: self.best().collect(),
            // A line that was not looked up is empty, as is that of a finished game.
            line: (self.position.is_over() || !self.line.turns().is_empty()).then_some(&self.line),
            finished: self.position.is_over(),
        }
        .serialize(writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by `kalah probe --json` with tables of the default rules.
    const PROBE: &str = concat!(
        r#"{"position":"<6,0,0,0,0,1,0,2,1,1,0,0,3,0,0>","seeds":8,"score":4,"value":0,"#,
        r#""moves":[{"move":3,"score":2},{"move":5,"score":3},{"move":6,"score":4}],"best":[6],"line":"6563"}"#
    );

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

    #[test]
    fn a_probe_is_the_document_of_the_command() {
        let text = |value: &Probe| serde_json::to_string(value).unwrap();
        let moves = [(3, 2), (5, 3), (6, 4)].map(|(pit, score)| (Pit::from_number(pit).unwrap(), score));
        let position = "<6,0,0,0,0,1,0,2,1,1,0,0,3,0,0>".parse().unwrap();
        let line = Line::parse(6, "6563").unwrap();
        let probe = Probe { position, score: 4, value: 0, moves: moves.into(), line };
        assert_eq!(text(&probe), PROBE);
        let over = Probe::of_finished(&"0,0/1,2".parse().unwrap()).unwrap();
        let document = concat!(
            r#"{"position":"<2,0,0,0,0,1,2>","seeds":3,"score":0,"value":-3,"#,
            r#""moves":[],"best":[],"line":"","finished":true}"#
        );
        assert_eq!(text(&over), document);
        assert_eq!(text(&Probe { line: Line::new(6), ..probe }), PROBE.replace(r#","line":"6563""#, ""));
    }
}
