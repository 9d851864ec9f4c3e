use super::estimate::SEED;
use super::solver::{SolveError, Solver};
use crate::game::Position;

/// Turns that first guesses look ahead, one even and one odd number: who moves last looks better than he is.
const TURNS: [u32; 2] = [8, 9];

/// All estimates lie within.
const WINDOW: (i32, i32) = (-256 * SEED, 256 * SEED);

impl Solver<'_> {
    /// A guess of the value of `position`, with which to begin: a good one saves the tests that lead there, a bad one makes
    /// nothing wrong. At the start of Kalah(6,4) it is right, of Kalah(6,5) +10 instead of +12.
    ///
    /// # Errors
    /// When the position does not fit the solver.
    pub fn first_guess(&self, position: &Position) -> Result<i64, SolveError> {
        let board = self.board(position)?;
        let look = self.lookahead();
        let sum: i32 = TURNS.iter().map(|&turns| look.score(board, position.seeds(), turns, WINDOW)).sum();
        let (count, seeds) = (SEED * TURNS.len() as i32, position.seeds() as i32);
        Ok(position.value((sum + count / 2).div_euclid(count).clamp(0, seeds) as u32))
    }
}
