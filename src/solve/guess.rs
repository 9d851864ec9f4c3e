use super::limited::{Evaluation, LimitedSearch, Method};
use super::solver::Solver;
use crate::game::Position;

/// Seeds above the tables from which a search to a limited depth pays: below, the whole proof costs little more.
const FAR_SEEDS: usize = 30;

/// Moves that it looks ahead.
const DEPTH: u32 = 12;

/// How much of an advantage shows within that depth: half. At the start of Kalah(6,4) it finds +6 and +10 is right, of
/// Kalah(6,5) +6 and +12.
const SHOWN: i64 = 2;

impl Solver<'_> {
    /// A guess of the value of `position`, with which to begin; a good one saves the tests that lead there, a bad one makes
    /// nothing wrong. `None` near the tables, where half of the seeds is as good a guess as any.
    pub fn first_guess(&self, position: &Position) -> Option<i64> {
        let above = (position.seeds() as usize).saturating_sub(self.table_seeds().unwrap_or(0));
        (above > FAR_SEEDS).then(|| {
            let (rules, method, evaluation) = (self.rules(), Method::Ybw, Evaluation::Seeds);
            let search = LimitedSearch { rules, method, depth: DEPTH, par_depth: 3, evaluation };
            let stored = i64::from(position.mover_store()) - i64::from(position.other_store());
            stored + SHOWN * (search.run(position).value - stored)
        })
    }
}
