use std::path::Path;

use kalah_base::file::{Document, StateError, StateFile};
use kalah_core::game::{Rules, StartPosition, ValueBounds};
use serde::{Deserialize, Serialize};

use crate::opening::Outcome;

/// Proved bounds of the value of a game, that is of its start position, for the first player.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameValue {
    /// Pits a side.
    pub pits: usize,
    /// Seeds in each.
    pub seeds: u32,
    /// Final store difference that the first player can guarantee.
    pub at_least: i64,
    /// Final store difference to which the second player can hold the first.
    pub at_most: i64,
    /// Nodes searched.
    pub nodes: u64,
    /// Elapsed seconds.
    pub seconds: f64,
}

impl GameValue {
    /// The board.
    pub fn start(&self) -> StartPosition {
        StartPosition { pits: self.pits, seeds: self.seeds }
    }

    /// The proved bounds.
    pub fn bounds(&self) -> ValueBounds {
        ValueBounds { lower: self.at_least, upper: self.at_most }
    }

    /// The bounds narrowed by `more` bounds of the same game; `None` if they contradict each other.
    #[must_use]
    pub fn bounds_with(&self, more: ValueBounds) -> Option<ValueBounds> {
        let (lower, upper) = (self.at_least.max(more.lower), self.at_most.min(more.upper));
        (lower <= upper).then_some(ValueBounds { lower, upper })
    }

    /// The value, if it is proved.
    pub fn value(&self) -> Option<i64> {
        self.bounds().value()
    }

    /// Returns true if the start position is valid and both bounds are possible: store differences after
    /// collecting some number of seeds.
    fn can_be(&self) -> bool {
        let Ok(position) = self.start().position() else { return false };
        let (least, most) = (position.value(0), position.value(position.seeds()));
        let is_value = |value: i64| (least..=most).contains(&value) && (value - least) % 2 == 0;
        is_value(self.at_least)
            && is_value(self.at_most)
            && self.at_least <= self.at_most
            && self.seconds.is_finite()
            && self.seconds >= 0.0
    }

    /// W, L or D if the first player wins, loses or draws; `None` if that is not proved.
    pub fn outcome(&self) -> Option<char> {
        let [least, most] = [self.at_least, self.at_most].map(Outcome::of);
        (least == most).then(|| least.letter())
    }
}

/// Values of games of one rule set, and the file that stores them.
#[derive(Debug)]
pub struct GameValues {
    file: Option<StateFile>,
    values: Vec<GameValue>,
}

/// Identity of the work.
#[derive(Serialize)]
struct Work {
    rules: &'static str,
}

/// The file: a record for each result, the last one of a game counts.
const DOCUMENT: Document = Document { format: "kalah game values", version: 3 };

impl GameValues {
    /// Opens the values of `rules` in the file `path`; a missing file is empty. Without a path the values stay
    /// in memory. No other process can open the file until they are dropped.
    ///
    /// # Errors
    /// If another process has the file open, or the file cannot be read, is damaged, or has other contents.
    pub fn open(rules: Rules, path: Option<&Path>) -> Result<GameValues, StateError> {
        let mut values = GameValues { file: None, values: Vec::new() };
        let Some(path) = path else { return Ok(values) };
        let (file, saved) = StateFile::open(path, DOCUMENT, &Work { rules: rules.name() })?;
        for (index, value) in saved.into_iter().enumerate() {
            let value: GameValue = value;
            if !value.can_be() {
                let what = format!("its value of {} is impossible", value.start());
                return Err(StateError::damaged_record(file.path(), index, what));
            }
            values.replace(value);
        }
        Ok(GameValues { file: Some(file), ..values })
    }

    /// The bounds of a game.
    pub fn get(&self, start: StartPosition) -> Option<&GameValue> {
        self.values.iter().find(|value| value.start() == start)
    }

    /// Replaces the bounds of a game, in the file too.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn put(&mut self, value: GameValue) -> Result<(), StateError> {
        self.replace(value);
        self.file.as_mut().map_or(Ok(()), |file| file.append(&value))
    }

    fn replace(&mut self, value: GameValue) {
        self.values.retain(|old| old.start() != value.start());
        self.values.push(value);
    }
}
