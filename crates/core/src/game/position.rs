use std::ops::{Add, Sub};

use super::{MAX_PITS, Pit, Row, Rules, sow};

/// Maximum seeds of a position, stores included. Sums and differences cannot overflow.
const MAX_SEEDS: u64 = i32::MAX as u64;

/// A position with stores. The mover is always South.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    mover: Row,
    other: Row,
    mover_store: u32,
    other_store: u32,
}

/// Reasons why rows and stores do not form a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PositionError {
    /// No position has this number of pits.
    #[error("{0} pits a side: positions have 1 to {MAX_PITS}")]
    Pits(usize),
    /// The rows have different numbers of pits.
    #[error("the rows have {0} and {1} pits: both sides need the same number")]
    UnequalRows(usize, usize),
    /// There are more seeds than a position can have.
    #[error("{0} seeds are more than the {MAX_SEEDS} a position can hold")]
    TooManySeeds(u64),
}

/// Reasons why a move cannot be played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IllegalMove {
    /// One row is empty.
    #[error("the game is over: a row is empty")]
    GameOver,
    /// The pit is empty.
    #[error("move {0} is not legal: the pit holds no seeds")]
    EmptyPit(Pit),
    /// The board has no such pit.
    #[error("move {pit} is not legal: pits are numbers from 1 to {pits}")]
    NoPit {
        /// The pit.
        pit: Pit,
        /// Pits a side.
        pits: usize,
    },
}

/// A position reached by a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Played {
    /// The position, seen by the player who moves next (the same player if `again`).
    pub position: Position,
    /// True if the same player moves again. False once the game is over.
    pub again: bool,
}

impl Played {
    /// The mover's score in `before` with this move, if the player to move after it collects `score`.
    pub fn mover_score(&self, before: &Position, score: u32) -> u32 {
        let store = if self.again { self.position.mover_store } else { self.position.other_store };
        mover_score(self.again, store - before.mover_store, before.seeds(), score)
    }

    /// Converts the final store difference for the player who moves next into that for the player who moved.
    pub fn mover_value(&self, value: i64) -> i64 {
        mover_value(self.again, value)
    }
}

impl Position {
    /// Makes a position from rows of equal length and stores.
    ///
    /// # Errors
    /// When the rows differ in length, or there are too many seeds.
    pub fn new(mover: Row, other: Row, mover_store: u32, other_store: u32) -> Result<Position, PositionError> {
        if mover.pits() != other.pits() {
            return Err(PositionError::UnequalRows(mover.pits(), other.pits()));
        }
        let rows = mover.seeds().iter().chain(other.seeds());
        let seeds = rows.map(|&seeds| u64::from(seeds)).sum::<u64>() + u64::from(mover_store) + u64::from(other_store);
        if seeds > MAX_SEEDS {
            return Err(PositionError::TooManySeeds(seeds));
        }
        Ok(Position { mover, other, mover_store, other_store })
    }

    /// Pits a side.
    pub fn pits(&self) -> usize {
        self.mover.pits()
    }

    /// The mover's row.
    pub fn mover(&self) -> &Row {
        &self.mover
    }

    /// The other row.
    pub fn other(&self) -> &Row {
        &self.other
    }

    /// The mover's store.
    pub fn mover_store(&self) -> u32 {
        self.mover_store
    }

    /// The other store.
    pub fn other_store(&self) -> u32 {
        self.other_store
    }

    /// Seeds in play: those in the two rows.
    pub fn seeds(&self) -> u32 {
        self.mover.total() + self.other.total()
    }

    /// Returns true if a row is empty, which ends the game.
    pub fn is_over(&self) -> bool {
        self.mover.is_empty() || self.other.is_empty()
    }

    /// The mover's final store difference if the mover collects `score` of the seeds in play.
    pub fn value(&self, score: u32) -> i64 {
        2 * i64::from(score) - i64::from(self.seeds()) + i64::from(self.mover_store) - i64::from(self.other_store)
    }

    /// The score with this [value](Position::value): the greatest below it if none has it, within 0 and the seeds in
    /// play.
    pub fn score(&self, value: i64) -> u32 {
        value.saturating_sub(self.value(0)).div_euclid(2).clamp(0, i64::from(self.seeds())) as u32
    }

    /// The mover's final store difference if the game is over; the owner of a row gets its seeds. Otherwise `None`.
    pub fn final_value(&self) -> Option<i64> {
        self.is_over().then(|| self.value(self.mover.total()))
    }

    /// The legal moves, in pit order; empty once the game is over.
    pub fn moves(&self) -> impl Iterator<Item = Pit> + '_ {
        let over = self.is_over();
        self.mover.moves().filter(move |_| !over)
    }

    /// Plays one move.
    ///
    /// # Errors
    /// When the game is over, or the pit is empty or not on the board.
    pub fn play(&self, rules: Rules, pit: Pit) -> Result<Played, IllegalMove> {
        if self.is_over() {
            return Err(IllegalMove::GameOver);
        }
        if pit.index() >= self.pits() {
            return Err(IllegalMove::NoPit { pit, pits: self.pits() });
        }
        if self.mover.seeds_in(pit) == 0 {
            return Err(IllegalMove::EmptyPit(pit));
        }
        let sown = sow(rules, &self.mover, &self.other, pit);
        let position = Position {
            mover: sown.mover,
            other: sown.other,
            mover_store: self.mover_store + sown.stored,
            other_store: self.other_store,
        };
        Ok(if sown.again && !position.is_over() {
            Played { position, again: true }
        } else {
            Played { position: position.turned(), again: false }
        })
    }

    /// Returns the position with empty stores.
    pub fn without_stores(&self) -> Position {
        Position { mover_store: 0, other_store: 0, ..*self }
    }

    /// Returns the board seen from the other side.
    pub fn turned(&self) -> Position {
        Position { mover: self.other, other: self.mover, mover_store: self.other_store, other_store: self.mover_store }
    }
}

/// Returns the mover's score for a move that stores `stored` of the `seeds` seeds in play, from the score `next` after
/// it. `again` is true if the mover moves again.
///
/// `T` counts seeds or parts of a seed, and scores may be bounds. Loops with a version of their own are tested against
/// this one.
#[inline]
pub fn mover_score<T: Add<Output = T> + Sub<Output = T>>(again: bool, stored: T, seeds: T, next: T) -> T {
    // The mover collects the seeds that the opponent does not, including those stored by the move.
    if again { stored + next } else { seeds - next }
}

/// Converts the final store difference for the player who moves next into the mover's, as [`mover_score`] does.
#[inline]
pub fn mover_value(again: bool, next: i64) -> i64 {
    mover_score(again, 0, 0, next)
}

/// Proved bounds of the score of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Least score of the mover.
    pub lower: u32,
    /// Greatest score of the mover.
    pub upper: u32,
}

impl Bounds {
    /// Converts bounds of the score after a move into bounds for the player who moved: see [`mover_score`].
    #[inline]
    pub fn after(self, again: bool, stored: u32, seeds: u32) -> Bounds {
        let [one, two] = [self.lower, self.upper].map(|score| mover_score(again, stored, seeds, score));
        Bounds { lower: one.min(two), upper: one.max(two) }
    }

    /// Converts bounds of the score after the move `played` into bounds for the player who moved in `before`.
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
