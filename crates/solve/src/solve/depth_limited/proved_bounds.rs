use kalah_core::cancel::Cancel;
use kalah_core::game::{Bounds, Pit, Position};
use kalah_core::table::TableError;

use super::deepening::Depth;
use super::findings::Window;
use super::static_leaves::LIMIT;
use crate::solve::error::SolveError;
use crate::solve::evaluation::{MoveScore, SEED, StaticEvaluation, mover_evaluation};
use crate::solve::packed::{Board, Sower, Word};

/// Nodes between two readings of the clock. Each node may read tables from the disk.
const CHECK_INTERVAL: u64 = 1 << 4;

/// Result of a depth-limited search; proved only if it is `exact`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DepthLimitedResult {
    /// The best move.
    pub best: Pit,
    /// The evaluation of the position: a final store difference for the mover.
    pub value: i64,
    /// Depth of the search.
    pub depth: Depth,
    /// True if every line of play ended in a proved score. The value is then exact, and the move is best.
    pub exact: bool,
}

/// A running depth-limited search: alpha-beta with proved bounds where they exist, and evaluations at all other
/// leaves.
pub(crate) struct BoundedSearch<'s, W, K> {
    pub sower: &'s Sower<W>,
    pub evaluation: &'s StaticEvaluation,
    /// Returns the proved bounds of the score of a board.
    pub known: K,
    /// Ends the search.
    pub cancel: &'s Cancel,
    /// Nodes that may still be visited.
    pub budget: u64,
    /// True if some line of play ended in an evaluation.
    pub evaluated: bool,
}

impl<W: Word, K: Fn(Board<W>) -> Result<Bounds, TableError>> BoundedSearch<'_, W, K> {
    /// Searches the `moves` of `position`, which must be all its moves; `board` has its rows. `None` without
    /// moves.
    ///
    /// # Errors
    /// [`SolveError::OverBudget`]; also if it is stopped or a table is damaged.
    pub(crate) fn run(
        mut self,
        position: &Position,
        board: Board<W>,
        moves: &[Pit],
        depth: Depth,
    ) -> Result<Option<DepthLimitedResult>, SolveError> {
        let (moves_left, turns_left) = depth.limits();
        let mut best = None;
        let mut low = -LIMIT;
        for &pit in moves {
            let window = Window { low, high: LIMIT };
            let evaluation = self.after(board, pit.index(), moves_left, turns_left, window)?;
            if best.is_none() || evaluation > low {
                (best, low) = (Some(pit), evaluation);
            }
        }
        let score = (low + SEED / 2).div_euclid(SEED).clamp(0, position.seeds() as i32) as u32;
        let value = position.value(score);
        Ok(best.map(|best| DepthLimitedResult { best, value, depth, exact: !self.evaluated }))
    }

    /// The evaluation of one move for the mover of `board`, in sixteenths of a seed (fail-soft). `moves` and `turns`
    /// remain, including this one.
    fn after(
        &mut self,
        board: Board<W>,
        pit: usize,
        moves: u32,
        turns: u32,
        window: Window,
    ) -> Result<i32, SolveError> {
        let sown = self.sower.sow(board, pit);
        let (next, left) = (sown.next(), board.seeds() - sown.stored);
        let window = window.after(sown.again, sown.stored, board.seeds());
        let evaluation = self.search(next, moves - 1, turns - u32::from(!sown.again), window)?;
        Ok(mover_evaluation(sown.again, sown.stored, left, evaluation))
    }

    /// The evaluation of `board` for its mover, in sixteenths of a seed (fail-soft).
    fn search(&mut self, board: Board<W>, moves: u32, turns: u32, window: Window) -> Result<i32, SolveError> {
        let Window { mut low, high } = window;
        self.budget = self.budget.checked_sub(1).ok_or(SolveError::OverBudget)?;
        if self.budget.is_multiple_of(CHECK_INTERVAL) {
            self.cancel.check()?;
        }
        if board.is_over() {
            return Ok(SEED * board.mover.total() as i32);
        }
        let known = (self.known)(board)?;
        let (least, most) = (SEED * known.lower as i32, SEED * known.upper as i32);
        if least >= most || least >= high {
            return Ok(least);
        }
        if most <= low {
            return Ok(most);
        }
        if moves == 0 || turns == 0 {
            self.evaluated = true;
            return Ok(self.evaluation.of(board, board.seeds()).clamp(least, most));
        }
        let pits = self.sower.pits();
        let mut scored = Vec::with_capacity(pits);
        for pit in (0..pits).filter(|&pit| board.mover.seeds_in(pit) != 0) {
            let sown = self.sower.sow(board, pit);
            scored.push((MoveScore::bonus(pit, sown.again, sown.stored, sown.next()), pit));
        }
        scored.sort_unstable_by_key(|&scored| std::cmp::Reverse(scored));
        let mut best = -LIMIT;
        for (_, pit) in scored {
            best = best.max(self.after(board, pit, moves, turns, Window { low, high })?);
            low = low.max(best);
            if low >= high {
                break;
            }
        }
        Ok(best.clamp(least, most))
    }
}
