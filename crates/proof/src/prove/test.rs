use std::fmt;

use kalah_core::game::{Bounds, Position, Rules};
use serde::{Deserialize, Serialize};

/// A zero-window test: does the mover of a position collect at least `score` of the seeds in play?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Test {
    /// The position; its stores are empty.
    pub position: Position,
    /// The seeds that the mover is tested to collect.
    pub score: u32,
}

/// Consequence of a move for a [`Test`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// True if the mover certainly collects the score with this move, false if certainly not: by the seeds
    /// stored, or because the game is over.
    Certain(bool),
    /// It depends on another test.
    Test {
        /// The test of the position after the move.
        test: Test,
        /// True if the mover collects the score when that test succeeds, false if the mover does when it fails.
        same: bool,
    },
}

impl Test {
    /// The test of a position, whose stores do not matter.
    pub(crate) fn new(position: &Position, score: u32) -> Test {
        Test { position: position.without_stores(), score }
    }

    /// The answer, if it does not depend on moves.
    pub(crate) fn certain(&self) -> Option<bool> {
        if self.position.is_over() {
            return Some(self.position.mover().total() >= self.score);
        }
        match self.score {
            0 => Some(true),
            score if score > self.position.seeds() => Some(false),
            _ => None,
        }
    }

    /// The answer by bounds of the score of its position, if they decide it.
    pub fn decided_by(&self, bounds: Bounds) -> Option<bool> {
        if bounds.lower >= self.score { Some(true) } else { (bounds.upper < self.score).then_some(false) }
    }

    /// Bounds that follow from an answer.
    pub(crate) fn bounds(&self, answer: bool) -> Bounds {
        if answer {
            Bounds { lower: self.score, upper: self.position.seeds() }
        } else {
            Bounds { lower: 0, upper: self.score - 1 }
        }
    }

    /// The reply for each move, the pit nearest to the store first; none if the game is over. The test succeeds
    /// exactly if it does with one of the moves.
    pub(super) fn replies(&self, rules: Rules) -> Vec<Reply> {
        let seeds = self.position.seeds();
        let mut moves: Vec<_> = self.position.moves().collect();
        moves.reverse();
        let reply = |pit| {
            let played = self.position.play(rules, pit).ok()?;
            let next = played.position;
            if next.is_over() {
                let score = played.mover_score(&self.position, next.mover().total());
                return Some(Reply::Certain(score >= self.score));
            }
            let stored = if played.again { next.mover_store() } else { next.other_store() };
            let (score, same) = match played.again {
                true => (self.score.saturating_sub(stored), true),
                // The mover gets the seeds that the other player does not.
                false => ((seeds + 1).saturating_sub(self.score), false),
            };
            let test = Test::new(&next, score);
            Some(match test.certain() {
                Some(answer) => Reply::Certain(answer == same),
                None => Reply::Test { test, same },
            })
        };
        moves.into_iter().filter_map(reply).collect()
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "at least {} of the {} seeds of {}",
            self.score,
            self.position.seeds(),
            rows(&self.position, ",", "/")
        )
    }
}

/// The rows of a position as text, with these separators between pits and between rows.
pub(super) fn rows(position: &Position, pits: &str, rows: &str) -> String {
    let [mover, other] = [position.mover(), position.other()]
        .map(|row| row.seeds().iter().map(u32::to_string).collect::<Vec<_>>().join(pits));
    format!("{mover}{rows}{other}")
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use kalah_solve::solve::{Solver, SolverOptions};

    #[test]
    fn a_test_succeeds_exactly_if_it_does_with_one_of_the_moves() {
        for rules in Rules::ALL {
            let start: Position = "3x3".parse().unwrap();
            let solver = Solver::new(SolverOptions::new(rules, &start).transpositions(1 << 20)).unwrap();
            let answer = |test: &Test| solver.test(&test.position, test.score).unwrap().lower >= test.score;
            let mut positions = vec![start];
            let mut random = fastrand::Rng::with_seed(16);
            for _ in 0..20 {
                let last = positions[random.usize(..positions.len())];
                positions.extend(last.moves().map(|pit| last.play(rules, pit).unwrap().position));
            }
            for position in positions {
                for score in 0..=position.seeds() + 1 {
                    let test = Test::new(&position, score);
                    let expected = match test.certain() {
                        Some(answer) => answer,
                        None => answer(&test),
                    };
                    if position.is_over() || score == 0 || score > position.seeds() {
                        assert!(test.certain().is_some());
                        continue;
                    }
                    assert_eq!(test.decided_by(test.bounds(expected)), Some(expected));
                    let by_moves = test.replies(rules).into_iter().any(|reply| match reply {
                        Reply::Certain(answer) => answer,
                        Reply::Test { test, same } => answer(&test) == same,
                    });
                    assert_eq!(by_moves, expected, "{rules}: {test}");
                }
            }
        }
    }
}
