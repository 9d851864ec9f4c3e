use super::estimate::SEED;
use super::solver::{SolveError, Solver};
use crate::game::Position;

/// Turns that first guesses look ahead, at the most.
const TURNS: u32 = 9;

/// Positions that a look ahead may take; Kalah(6,6) takes 400 thousand. Turns of the relay rule have dozens of moves, and
/// fewer of them are looked ahead.
const POSITIONS: u32 = 1 << 19;

impl Solver<'_> {
    /// A guess of the value of `position`, with which to begin: a good one saves the tests that lead there, a bad one makes
    /// nothing wrong. At the start of Kalah(6,4) it is right, of Kalah(6,5) +10 instead of +12.
    ///
    /// Once the solver is stopped or its deadline is over it looks no farther: half of the seeds is a guess too.
    ///
    /// # Errors
    /// When the position does not fit the solver.
    pub fn first_guess(&self, position: &Position) -> Result<i64, SolveError> {
        self.check(position)?;
        let score =
            (1..=TURNS).rev().step_by(2).find_map(|turns| self.looks(position, turns)).unwrap_or(position.seeds() / 2);
        Ok(position.value(score))
    }

    /// The score of `position` as it looks after `turns` turns and after one less: who moves last looks better than he is.
    /// `None` when that takes too long.
    fn looks(&self, position: &Position, turns: u32) -> Option<u32> {
        let (mut left, seeds) = (POSITIONS, position.seeds() as i32);
        let sum: i32 = [turns - 1, turns]
            .iter()
            .map(|&turns| self.engine.look(position, turns, &mut left, &|| self.interrupted().is_some()))
            .sum();
        (left > 0).then(|| (sum + SEED).div_euclid(2 * SEED).clamp(0, seeds) as u32)
    }
}
