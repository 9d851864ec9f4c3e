use super::{Played, Position, mover_score};

/// Proved bounds of the score of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Least score of the mover.
    pub lower: u32,
    /// Greatest score of the mover.
    pub upper: u32,
}

impl Bounds {
    /// Converts bounds of the score after a move into bounds for the player who moved. The move
    /// stored `stored` of the `seeds` seeds in play; `again` is true if the same player moves
    /// again.
    #[inline]
    pub fn after(self, again: bool, stored: u32, seeds: u32) -> Bounds {
        let [one, two] = [self.lower, self.upper].map(|score| mover_score(again, stored, seeds, score));
        Bounds { lower: one.min(two), upper: one.max(two) }
    }

    /// Converts bounds of the score after the move `played` into bounds for the player who moved in
    /// `before`.
    pub fn for_mover(self, played: &Played, before: &Position) -> Bounds {
        let ends = [self.lower, self.upper].map(|score| played.mover_score(before, score));
        Bounds { lower: ends[0].min(ends[1]), upper: ends[0].max(ends[1]) }
    }
}

/// Proved bounds of the value of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueBounds {
    /// Least final store difference of the mover.
    pub lower: i64,
    /// Greatest final store difference of the mover.
    pub upper: i64,
}

impl ValueBounds {
    /// The value, if the bounds are equal.
    pub fn value(self) -> Option<i64> {
        (self.lower == self.upper).then_some(self.lower)
    }

    /// Converts bounds of the value after a move into bounds for the player who moved.
    pub fn for_mover(self, played: &Played) -> ValueBounds {
        let ends = [self.lower, self.upper].map(|value| played.mover_value(value));
        ValueBounds { lower: ends[0].min(ends[1]), upper: ends[0].max(ends[1]) }
    }
}
