use std::time::Duration;

use kalah_core::game::{Bounds, Position, ValueBounds};

use super::error::SolveError;
use super::solver::Solver;

/// Share of the time for proving the value itself; the rest is for bounds.
const VALUE_SHARE: f64 = 0.5;

/// Share of the time for one test of a bound.
const BOUND_SHARE: f64 = 0.05;

impl Solver<'_> {
    /// The known bounds of the score of `position` without a search: its own, and those from the positions
    /// after its moves.
    pub(super) fn known_of(&self, position: &Position) -> Result<Bounds, SolveError> {
        let mut known = self.known(position)?;
        let (mut lower, mut upper) = (0, 0);
        for pit in position.moves() {
            let Ok(played) = position.play(self.rules, pit) else { continue };
            let after = self.known(&played.position)?;
            let after = after.for_mover(&played, position);
            (lower, upper) = (lower.max(after.lower), upper.max(after.upper));
        }
        if !position.is_over() {
            (known.lower, known.upper) = (known.lower.max(lower), known.upper.min(upper));
        }
        SolveError::unless_contradictory(position, known)
    }

    /// The known bounds of the value of `position`, without a search.
    ///
    /// # Errors
    /// If the position does not fit the solver, or a table is damaged.
    pub fn value_bounds(&self, position: &Position) -> Result<ValueBounds, SolveError> {
        let known = self.known_of(position)?;
        Ok(ValueBounds { lower: position.value(known.lower), upper: position.value(known.upper) })
    }

    /// Proves as much as possible of the value of `position` in the time `within`, from a first guess. It first
    /// searches for the value, then for bounds on both sides of the guess, the nearest first.
    ///
    /// # Errors
    /// If it is stopped, the position does not fit the solver, or a table is damaged. Bounds proved by then are
    /// kept ([`Solver::value_bounds`]).
    pub fn narrow(&self, position: &Position, guess: i64, within: Duration) -> Result<ValueBounds, SolveError> {
        self.in_time(within, |solver| solver.narrow_in_shares(position, guess, within))?;
        self.value_bounds(position)
    }

    /// Proves as much as possible until it is stopped, in shares of the time `within`.
    fn narrow_in_shares(&self, position: &Position, guess: i64, within: Duration) -> Result<(), SolveError> {
        if self.in_time(within.mul_f64(VALUE_SHARE), |solver| solver.value(position, guess))?.is_some() {
            return Ok(());
        }
        let guess = position.score(guess);
        // Tests between these two values were not decided in their time.
        let (mut low, mut high) = (guess + 1, guess);
        let mut step = 1;
        loop {
            let known = self.known_of(position)?;
            // On each side, test half-way between the proved bound and the undecided test, or nearer to the
            // test while nothing is proved.
            let lower = low.saturating_sub(step).max(known.lower + (low.saturating_sub(known.lower)) / 2);
            let upper = (high + step).min(known.upper - (known.upper.saturating_sub(high)) / 2);
            let tests = [(lower, lower > known.lower && lower < low), (upper, upper <= known.upper && upper > high)];
            if tests.iter().all(|&(_, open)| !open) {
                break;
            }
            for (index, (score, _)) in tests.into_iter().enumerate().filter(|&(_, (_, open))| open) {
                self.cancel.check()?;
                match self.in_time(within.mul_f64(BOUND_SHARE), |solver| solver.test(position, score))? {
                    Some(proved) if proved.lower >= score => high = high.max(score),
                    Some(_) => low = low.min(score),
                    None if index == 0 => low = score,
                    None => high = score,
                }
            }
            step *= 2;
        }
        // Only the value itself remains to be found.
        self.value(position, position.value(guess)).map(drop)
    }
}
