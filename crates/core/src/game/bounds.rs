use super::{Played, Position, mover_score};

/// Proved bounds of the score of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The mover collects at least this.
    pub lower: u32,
    /// The mover collects at most this.
    pub upper: u32,
}

impl Bounds {
    /// Bounds of the score of the position after a move that stores `stored` seeds, for the player who moved, with `seeds`
    /// seeds in play before; that player moves `again`, or not.
    #[inline]
    pub fn after(self, again: bool, stored: u32, seeds: u32) -> Bounds {
        let [one, two] = [self.lower, self.upper].map(|score| mover_score(again, stored, seeds, score));
        Bounds { lower: one.min(two), upper: one.max(two) }
    }

    /// Bounds of the score of the position after a move, for the player who moved in `before`.
    pub fn for_mover(self, played: &Played, before: &Position) -> Bounds {
        let ends = [self.lower, self.upper].map(|score| played.mover_score(before, score));
        Bounds { lower: ends[0].min(ends[1]), upper: ends[0].max(ends[1]) }
    }
}

/// Proved bounds of the value of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueBounds {
    /// The final store difference that the mover reaches at least.
    pub lower: i64,
    /// The final store difference that the mover reaches at most.
    pub upper: i64,
}

impl ValueBounds {
    /// The value, if the bounds are equal.
    pub fn value(self) -> Option<i64> {
        (self.lower == self.upper).then_some(self.lower)
    }

    /// Bounds of the value of a position after a move, for the player who moved.
    pub fn for_mover(self, played: &Played) -> ValueBounds {
        let ends = [self.lower, self.upper].map(|value| played.mover_value(value));
        ValueBounds { lower: ends[0].min(ends[1]), upper: ends[0].max(ends[1]) }
    }
}
