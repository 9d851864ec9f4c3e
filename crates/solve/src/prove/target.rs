use kalah_core::game::{Bounds, Position};
use serde::{Deserialize, Serialize};

use super::test::Test;

/// What is to be proved of the score of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aim {
    /// What it is.
    Find {
        /// The score with which to begin.
        guess: u32,
    },
    /// That it is this.
    Exactly {
        /// The score.
        score: u32,
    },
    /// That it is at least this.
    AtLeast {
        /// The score.
        score: u32,
    },
    /// That it is at most this.
    AtMost {
        /// The score.
        score: u32,
    },
}

/// A position and what is to be proved of its score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The position; its stores do not matter.
    pub position: Position,
    /// What is to be proved.
    pub aim: Aim,
}

/// How far the proof of a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The bounds that are proved.
    pub known: Bounds,
    /// The next test; `None` when it is proved or refuted.
    pub next: Option<Test>,
    /// Another test that is due whatever the answer of that one.
    pub then: Option<Test>,
    /// Whether what was to be proved is wrong.
    pub is_refuted: bool,
}

impl Target {
    /// How far the proof is, given the proved bounds of the position's score.
    pub fn progress(&self, known: Option<Bounds>) -> Progress {
        let seeds = self.position.seeds();
        let known = match known {
            _ if self.position.is_over() => {
                Bounds { lower: self.position.mover().total(), upper: self.position.mover().total() }
            }
            Some(known) => known,
            None => Bounds { lower: 0, upper: seeds },
        };
        let Bounds { lower, upper } = known;
        let is_refuted = match self.aim {
            Aim::Find { .. } => false,
            Aim::Exactly { score } => !(lower..=upper).contains(&score),
            Aim::AtLeast { score } => upper < score,
            Aim::AtMost { score } => lower > score,
        };
        // The hypothesis: the score that is to be proved, or the one nearest to it that is left.
        let (reach, hold) = match self.aim {
            Aim::Find { guess: score } | Aim::Exactly { score } => {
                let score = score.clamp(lower, upper);
                (Some(score), Some(score))
            }
            Aim::AtLeast { score } => (Some(score), None),
            Aim::AtMost { score } => (None, Some(score)),
        };
        let reach = reach.filter(|&score| score > lower).map(|score| Test::new(&self.position, score));
        let hold = hold.filter(|&score| score < upper).map(|score| Test::new(&self.position, score + 1));
        let (next, then) = if is_refuted { (None, None) } else { (reach.or(hold), reach.and(hold)) };
        Progress { known, next, then, is_refuted }
    }

    /// The tests whose answers give the bounds `known`.
    pub fn proved(&self, known: Bounds) -> Vec<(Test, bool)> {
        let reach = (Test::new(&self.position, known.lower), true);
        let hold = (Test::new(&self.position, known.upper + 1), false);
        [reach, hold].into_iter().filter(|(test, _)| test.certain().is_none()).collect()
    }
}
