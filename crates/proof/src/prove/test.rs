use std::fmt;

use kalah_core::game::{Bounds, Position, Rules};
use serde::{Deserialize, Serialize};

/// A zero-window test: does the mover of a position collect at least `score` of the seeds in play?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    pub(super) fn decided_by(&self, bounds: Bounds) -> Option<bool> {
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
