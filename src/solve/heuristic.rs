//! What a solver finds without proof.

use super::depth_limited::{Depth, DepthLimitedResult, MAX_MOVES};
use super::error::SolveError;
use super::evaluation::SEED;
use super::solver::Solver;
use crate::game::Position;

/// Turns of the deepest search for a first guess.
const GUESS_TURNS: u32 = 9;

/// Nodes of that search at the most; Kalah(6,6) takes 400 thousand. Turns of the relay rule have dozens of moves, and fewer
/// of them are searched.
const GUESS_BUDGET: u32 = 1 << 19;

/// Nodes of a depth-limited search where no other budget is given: a second or two.
const BUDGET: u64 = 1 << 20;

impl Solver<'_> {
    /// A guess of the value of `position`, with which to begin: a good one saves tests, a bad one costs time
    /// only. At the start of Kalah(6,4) it is right, of Kalah(6,5) +10 instead of +12.
    ///
    /// Once the solver is stopped or its deadline is over it searches no deeper: half of the seeds is a guess too.
    ///
    /// # Errors
    /// When the position does not fit the solver.
    pub fn first_guess(&self, position: &Position) -> Result<i64, SolveError> {
        self.check(position)?;
        let guesses = (1..=GUESS_TURNS).rev().step_by(2).find_map(|turns| self.guess_at(position, turns));
        Ok(position.value(guesses.unwrap_or(position.seeds() / 2)))
    }

    /// The evaluation of `position` as a score, the mean of those to a depth of `turns` turns and of one less: whoever moves
    /// last is evaluated too well. `None` when that takes too many nodes.
    fn guess_at(&self, position: &Position, turns: u32) -> Option<u32> {
        let (mut left, seeds) = (GUESS_BUDGET, position.seeds() as i32);
        let sum: i32 = [turns - 1, turns]
            .iter()
            .map(|&turns| self.engine.evaluate(position, turns, &mut left, &|| self.interrupted().is_some()))
            .sum();
        (left > 0).then(|| (sum + SEED).div_euclid(2 * SEED).clamp(0, seeds) as u32)
    }

    /// Searches to a depth of `turns` turns, at least 1: alpha-beta with tables and proved bounds where there are some, and
    /// evaluations elsewhere. `None` once the game is over.
    ///
    /// Where so many turns take more than a million nodes, it searches as many moves as it can with as many nodes for each.
    ///
    /// # Errors
    /// When stopped, the time was up, a table is damaged, or the position does not fit the solver.
    pub fn depth_limited(&self, position: &Position, turns: u32) -> Result<Option<DepthLimitedResult>, SolveError> {
        match self.depth_limited_within(position, Depth::Turns(turns.max(1)), BUDGET) {
            Err(SolveError::OverBudget) => {}
            found => return found,
        }
        let mut best = self.one_move_deep(position)?;
        for moves in 2..=MAX_MOVES {
            match self.depth_limited_within(position, Depth::Moves(moves), BUDGET) {
                Ok(Some(found)) if !found.exact => best = Some(found),
                Err(SolveError::OverBudget) => break,
                found => return found,
            }
        }
        Ok(best)
    }

    /// Searches to a depth of one move, which takes next to no time: neither a deadline nor a stop ends it. `None` once the
    /// game is over.
    ///
    /// # Errors
    /// When a table is damaged, or the position does not fit the solver.
    pub fn one_move_deep(&self, position: &Position) -> Result<Option<DepthLimitedResult>, SolveError> {
        self.check(position)?;
        self.engine.depth_limited(position, Depth::Moves(1), BUDGET, &|| None)
    }

    /// Searches to a given depth, with `budget` nodes at the most.
    ///
    /// # Errors
    /// [`SolveError::OverBudget`] when they do not suffice; else as [`Solver::depth_limited`].
    pub(crate) fn depth_limited_within(
        &self,
        position: &Position,
        depth: Depth,
        budget: u64,
    ) -> Result<Option<DepthLimitedResult>, SolveError> {
        self.check(position)?;
        self.engine.depth_limited(position, depth, budget, &|| self.interrupted())
    }
}
