use kalah_core::game::{Line, Pit, Position, Rules, mover_value};
use kalah_core::table::ProbeError;

use super::error::SolveError;
use super::evaluation::in_order;
use super::solver::Solver;

/// A solved position.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Solution {
    /// The score: seeds in play that the mover collects with best play.
    pub score: u32,
    /// The final store difference for the mover.
    pub value: i64,
    pub(super) best: Vec<Pit>,
    /// A line of best play to the end of the game.
    pub line: Line,
}

impl Solution {
    /// The moves that keep the value, nearest the store last. None if the game is over.
    pub fn best(&self) -> impl Iterator<Item = Pit> + '_ {
        self.best.iter().copied()
    }
}

/// The beginning of a first turn: one move, or two if the first is an again-move.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Opening {
    /// One or two moves.
    pub moves: Vec<Pit>,
    /// The position after the moves, with stores.
    pub position: Position,
    /// True if the same player is to move.
    pub again: bool,
}

impl std::fmt::Display for Opening {
    /// The moves with dashes: `1-2`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, pit) in self.moves.iter().enumerate() {
            write!(f, "{}{pit}", if index > 0 { "-" } else { "" })?;
        }
        Ok(())
    }
}

impl Solver<'_> {
    /// The score of `position` and its value, with any first guess of the value.
    ///
    /// # Errors
    /// As [`Solver::test`]; also if the solver was made for smaller boards.
    pub fn value(&self, position: &Position, guess: i64) -> Result<(u32, i64), SolveError> {
        self.value_with_progress(position, guess, &mut || Ok(()))
    }

    /// As [`Solver::value`]; calls `proved` after every test that does not decide the value.
    pub fn value_with_progress(
        &self,
        position: &Position,
        guess: i64,
        proved: &mut dyn FnMut() -> Result<(), SolveError>,
    ) -> Result<(u32, i64), SolveError> {
        let score = self.score_with_progress(position, position.score(guess), proved)?;
        Ok((score, position.value(score)))
    }

    /// The moves of `position` that are proved to keep its `score`.
    ///
    /// # Errors
    /// As [`Solver::value`].
    pub fn best_moves(&self, position: &Position, score: u32) -> Result<Vec<Pit>, SolveError> {
        let mut best = Vec::new();
        for pit in position.moves() {
            if self.keeps(position, pit, score)?.is_some() {
                best.push(pit);
            }
        }
        Ok(best)
    }

    /// A move of `position` that is proved to collect at least `score`; one must exist. `None` if the game is
    /// over.
    ///
    /// # Errors
    /// As [`Solver::value`].
    pub fn best_move(&self, position: &Position, score: u32) -> Result<Option<Pit>, SolveError> {
        for pit in in_order(self.rules, position) {
            if self.keeps(position, pit, score)?.is_some() {
                return Ok(Some(pit));
            }
        }
        Ok(None)
    }

    /// A move of `position` that is proved to collect at least `score`; one must exist. Moves are tested one
    /// after the other, with more nodes from round to round. So a move that is hard to refute does not delay one
    /// that is easy to prove. `None` if the game is over.
    ///
    /// # Errors
    /// As [`Solver::value`].
    pub fn move_collecting(&self, position: &Position, score: u32) -> Result<Option<Pit>, SolveError> {
        const FIRST_LIMIT: u64 = 1 << 10;
        const LIMIT_GROWTH: u64 = 8;
        let mut left: Vec<_> = in_order(self.rules, position);
        let mut limit = FIRST_LIMIT;
        while !left.is_empty() {
            let mut undecided = Vec::new();
            for pit in left {
                match self.keeps_within(position, pit, score, limit) {
                    Ok(Some(_)) => return Ok(Some(pit)),
                    Ok(None) => {}
                    Err(SolveError::NodeLimit { .. }) => undecided.push(pit),
                    Err(error) => return Err(error),
                }
            }
            left = undecided;
            limit = limit.saturating_mul(LIMIT_GROWTH);
        }
        Ok(None)
    }

    /// The position after a move of `position` that keeps its `score`, with the score of that position. `None` if
    /// the move does not keep it.
    fn keeps(&self, position: &Position, pit: Pit, score: u32) -> Result<Option<(Position, u32)>, SolveError> {
        self.keeps_within(position, pit, score, u64::MAX)
    }

    /// As `keeps`, unless it takes more than this many nodes.
    fn keeps_within(
        &self,
        position: &Position,
        pit: Pit,
        score: u32,
        nodes: u64,
    ) -> Result<Option<(Position, u32)>, SolveError> {
        let Ok(played) = position.play(self.rules, pit) else { return Ok(None) };
        let next = played.position;
        if played.again {
            let stored = next.mover_store() - position.mover_store();
            let needed = score.saturating_sub(stored);
            let keeps = needed == 0 || self.test_within(&next, needed, nodes)?.lower >= needed;
            return Ok(keeps.then_some((next, needed)));
        }
        // The opponent must not get more than the remaining seeds.
        let Some(rest) = position.seeds().checked_sub(score) else { return Ok(None) };
        let keeps = rest >= next.seeds() || self.test_within(&next, rest + 1, nodes)?.upper <= rest;
        Ok(keeps.then_some((next, rest)))
    }

    /// A line of best play from `position`, whose `score` is exact, to the end of the game. Every position on
    /// it has the same value for the player who moved first.
    ///
    /// # Errors
    /// As [`Solver::value`]; also if `score` is not that of the position.
    pub fn line(&self, position: &Position, score: u32) -> Result<Line, SolveError> {
        let known = self.known_of(position)?;
        if !(known.lower..=known.upper).contains(&score) {
            return Err(SolveError::Contradiction(Box::new(*position)));
        }
        let start = *position;
        let (mut position, mut score, mut moves) = (start, score, Vec::new());
        while !position.is_over() {
            let reach = self.table_seeds().unwrap_or(0);
            if let Some(tables) = self.tables.filter(|_| position.seeds() as usize <= reach) {
                let probe = tables.probe(&position).map_err(|error| match error {
                    ProbeError::Table(error) => SolveError::Table(error),
                    _ => SolveError::Board { pits: position.pits(), seeds: position.seeds() },
                })?;
                if probe.score != score {
                    return Err(SolveError::Contradiction(Box::new(position)));
                }
                moves.extend(probe.line.turns().iter().flatten());
                break;
            }
            let mut next = None;
            for pit in in_order(self.rules, &position) {
                if let Some(kept) = self.keeps(&position, pit, score)? {
                    moves.push(pit);
                    next = Some(kept);
                    break;
                }
            }
            // One of the moves keeps an exact score.
            (position, score) = next.ok_or_else(|| SolveError::Contradiction(Box::new(position)))?;
        }
        // The remaining seeds belong to the owner of their row.
        if position.is_over() && position.mover().total() != score {
            return Err(SolveError::Contradiction(Box::new(position)));
        }
        Ok(Line::of_moves(self.rules, &start, &moves).expect("legal moves"))
    }

    /// Value, best moves and a line of best play.
    ///
    /// # Errors
    /// As [`Solver::value`].
    pub fn solve(&self, position: &Position, guess: i64) -> Result<Solution, SolveError> {
        let (score, value) = self.value(position, guess)?;
        let best = self.best_moves(position, score)?;
        let line = self.line(position, score)?;
        Ok(Solution { score, value, best, line })
    }

    /// The value of an opening for the player who played it, from a first guess.
    ///
    /// # Errors
    /// As [`Solver::value`].
    pub fn opening_value(&self, opening: &Opening, guess: i64) -> Result<i64, SolveError> {
        let sign = mover_value(opening.again, 1);
        Ok(sign * self.value(&opening.position, guess.saturating_mul(sign))?.1)
    }
}

impl Opening {
    /// The openings of `position`, as in Rawlings 2015: its moves, again-moves together with the next move.
    pub fn all(rules: Rules, position: &Position) -> Vec<Opening> {
        let after = |position: &Position, moves: &[Pit], pit: Pit| {
            let played = position.play(rules, pit).ok()?;
            let moves = moves.iter().copied().chain([pit]).collect();
            Some(Opening { moves, position: played.position, again: played.again })
        };
        let mut openings = Vec::new();
        for pit in position.moves() {
            let Some(first) = after(position, &[], pit) else { continue };
            if first.again {
                openings.extend(first.position.moves().filter_map(|pit| after(&first.position, &first.moves, pit)));
            } else {
                openings.push(first);
            }
        }
        openings
    }
}
