use std::fmt;

use kalah_core::game::Line;
use serde::{Deserialize, Serialize};

/// Result of a game with best play, for the player to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// The other player wins.
    Loss,
    /// Both collect as many seeds.
    Draw,
    /// The player to move wins.
    Win,
}

impl Outcome {
    /// All outcomes, best first.
    pub const ALL: [Outcome; 3] = [Outcome::Win, Outcome::Draw, Outcome::Loss];

    /// The letter in tables: W, D or L.
    pub fn letter(self) -> char {
        match self {
            Outcome::Win => 'W',
            Outcome::Draw => 'D',
            Outcome::Loss => 'L',
        }
    }

    /// The outcome with this letter.
    pub(crate) fn from_letter(letter: char) -> Option<Outcome> {
        Outcome::ALL.into_iter().find(|outcome| outcome.letter() == letter)
    }

    /// The outcome for the other player.
    #[must_use]
    pub(crate) fn turned(self) -> Outcome {
        match self {
            Outcome::Win => Outcome::Loss,
            Outcome::Draw => Outcome::Draw,
            Outcome::Loss => Outcome::Win,
        }
    }

    /// The outcome of a final store difference.
    pub fn of(value: i64) -> Outcome {
        match value.signum() {
            1 => Outcome::Win,
            0 => Outcome::Draw,
            _ => Outcome::Loss,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.letter())
    }
}

/// Limits of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Maximum number of turns; with 1 only wins within the first turn are found.
    pub turns: u32,
    /// Maximum number of positions to visit, counted by moves played.
    pub positions: u64,
}

impl Default for Limits {
    /// A hundred turns, four million positions.
    fn default() -> Limits {
        Limits { turns: 100, positions: 4_000_000 }
    }
}

/// Maximum number of lines in the proof of a verdict.
pub const MAX_LINES: usize = 10_000;

/// Result of a search turn by turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The outcome for the mover; `None` if it was not decided within the limits.
    pub outcome: Option<Outcome>,
    /// Number of turns after which it was decided, or the largest number searched in full.
    pub turns: u32,
    /// Proof that the mover wins, if the outcome is a win, and otherwise that the mover does not win. One side
    /// has one turn in each of its positions, the other side all its different turns. Every line ends when the
    /// game is over, or when the side with one turn holds more than half of the seeds. Empty if nothing is
    /// decided or there are more than [`MAX_LINES`] lines. [`check`](super::check()) checks the lines by the
    /// rules alone.
    pub lines: Vec<Line>,
    /// Positions visited: moves played.
    pub positions: u64,
}
