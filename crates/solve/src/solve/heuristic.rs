//! Results of a solver that are not proved.

use kalah_core::cancel::Cancel;
use kalah_core::game::Position;

use super::depth_limited::{Depth, DepthLimitedResult};
use super::error::SolveError;
use super::evaluation::SEED;
use super::solver::Solver;

/// Maximum number of turns of the search for a first guess.
const GUESS_TURNS: u32 = 9;

/// Seeds above the tables for which the search is two turns deeper. Near the tables, a test costs less than a good
/// guess.
const GUESS_STEP: u32 = 5;

/// Maximum nodes of that search; Kalah(6,6) takes 400 thousand. With relays, turns have dozens of moves, and
/// fewer turns are searched.
const GUESS_BUDGET: u32 = 1 << 19;

/// Turns of the guess, and nodes, after which [`Solver::is_long`] takes a search for a long one. They take some 10
/// milliseconds, as tables in memory do.
const LONG: (u32, u64) = (1, 1 << 15);

impl Solver<'_> {
    /// First guess of the value of `position`. A good one saves tests, a bad one only costs time. At the start
    /// of Kalah(6,4) it is right; of Kalah(6,5) it is +10 instead of +12.
    ///
    /// Once the solver is stopped, it searches no deeper. Half of the seeds is a guess too.
    ///
    /// # Errors
    /// If the position does not fit the solver.
    pub fn first_guess(&self, position: &Position) -> Result<i64, SolveError> {
        self.check(position)?;
        let above = position.seeds().saturating_sub(self.engine.reach() as u32);
        let turns = (1 + 2 * (above / GUESS_STEP)).min(GUESS_TURNS);
        let guesses = (1..=turns).rev().step_by(2).find_map(|turns| self.guess_at(position, turns));
        Ok(position.value(guesses.unwrap_or(position.seeds() / 2)))
    }

    /// Returns true if one test of `position` takes so long that tables to be made for its search pay off.
    ///
    /// # Errors
    /// As [`Solver::test`].
    pub fn is_long(&self, position: &Position) -> Result<bool, SolveError> {
        self.check(position)?;
        let (turns, nodes) = LONG;
        let score = self.guess_at(position, turns).unwrap_or(position.seeds() / 2);
        match self.test_within(position, score.max(1), nodes) {
            Err(SolveError::NodeLimit { .. }) => Ok(true),
            tested => tested.map(|_| false),
        }
    }

    /// Evaluation of the score of `position`, in seeds, by a search of `turns` turns. It proves nothing.
    ///
    /// Searches of `turns` turns and of one turn less are averaged, since evaluations favour the player who
    /// moved last. With relays, where turns have dozens of moves, the searches are less deep.
    ///
    /// # Errors
    /// If the position does not fit the solver.
    pub fn evaluation(&self, position: &Position, turns: u32) -> Result<f64, SolveError> {
        self.check(position)?;
        if position.is_over() {
            return Ok(f64::from(position.mover().total()));
        }
        let found = (1..=turns.max(1)).rev().find_map(|turns| self.mean_at(position, turns));
        Ok(found.map_or(f64::from(position.seeds()) / 2.0, |sum| f64::from(sum) / f64::from(2 * SEED)))
    }

    /// Evaluation of `position` as a score: the mean of searches of `turns` turns and of one turn less, since
    /// evaluations favour the player who moved last. `None` if that takes too many nodes.
    fn guess_at(&self, position: &Position, turns: u32) -> Option<u32> {
        let sum = self.mean_at(position, turns)?;
        Some((sum + SEED).div_euclid(2 * SEED).clamp(0, position.seeds() as i32) as u32)
    }

    /// The sum of the evaluations to a depth of `turns` turns and of one turn less, in sixteenths of a seed.
    /// `None` if that takes too many nodes.
    fn mean_at(&self, position: &Position, turns: u32) -> Option<i32> {
        let mut left = GUESS_BUDGET;
        let sum = [turns - 1, turns]
            .iter()
            .map(|&turns| self.engine.evaluate(position, turns, &mut left, &self.cancel))
            .sum();
        (left > 0).then_some(sum)
    }

    /// Searches to a depth of one move, which takes almost no time and cannot be stopped. `None` if the game is
    /// over.
    ///
    /// # Errors
    /// If a table is damaged, or the position does not fit the solver.
    pub fn one_move_deep(&self, position: &Position) -> Result<Option<DepthLimitedResult>, SolveError> {
        self.check(position)?;
        self.engine.depth_limited(position, Depth::Moves(1), u64::MAX, &Cancel::new())
    }

    /// Searches to a given depth, with at most `budget` nodes: alpha-beta with tables and proved bounds where they
    /// exist, and evaluations elsewhere. `None` if the game is over.
    ///
    /// # Errors
    /// [`SolveError::OverBudget`] if the nodes do not suffice; if it is stopped, a table is damaged, or the position
    /// does not fit the solver.
    pub fn depth_limited_within(
        &self,
        position: &Position,
        depth: Depth,
        budget: u64,
    ) -> Result<Option<DepthLimitedResult>, SolveError> {
        self.check(position)?;
        self.engine.depth_limited(position, depth, budget, &self.cancel)
    }
}
