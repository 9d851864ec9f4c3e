use kalah_core::game::{Bounds, Position};
use serde::{Deserialize, Serialize};

use super::test::Test;

/// Aim for the score of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aim {
    /// Find it.
    Find {
        /// First guess of the score.
        guess: u32,
    },
    /// Prove that it is this.
    Exactly {
        /// The score.
        score: u32,
    },
    /// Prove that it is at least this.
    AtLeast {
        /// The score.
        score: u32,
    },
    /// Prove that it is at most this.
    AtMost {
        /// The score.
        score: u32,
    },
}

/// A position and the aim for its score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The position; its stores do not matter.
    pub position: Position,
    /// The aim.
    pub aim: Aim,
}

/// Progress of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The proved bounds.
    pub known: Bounds,
    /// The next test; `None` if the target is proved or refuted.
    pub next: Option<Test>,
    /// Another test that is needed whatever the answer of the next one.
    pub then: Option<Test>,
    /// True if the target is refuted.
    pub is_refuted: bool,
}

impl Target {
    /// Progress with the proved bounds of the position's score.
    pub(crate) fn progress(&self, known: Option<Bounds>) -> Progress {
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
        // The hypothesis: the score to prove, or the nearest one still possible.
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

    /// Returns true if every score of the position meets the aim.
    pub(super) fn is_trivial(&self) -> bool {
        let seeds = self.position.seeds();
        match self.aim {
            Aim::Find { .. } | Aim::Exactly { .. } => seeds == 0,
            Aim::AtLeast { score } => score == 0,
            Aim::AtMost { score } => score >= seeds,
        }
    }

    /// Tests whose answers give the bounds `known`.
    pub(crate) fn proved(&self, known: Bounds) -> Vec<(Test, bool)> {
        let reach = (Test::new(&self.position, known.lower), true);
        let hold = (Test::new(&self.position, known.upper + 1), false);
        [reach, hold].into_iter().filter(|(test, _)| test.certain().is_none()).collect()
    }
}
