use super::board::{Board, total};
use super::estimate::SEED;
use super::lookahead::{LIMIT, next_window};
use super::order::{Promise, collects};
use super::solver::{SolveError, Solver};
use crate::game::{Pit, Position};

/// Positions between two looks at the clock; each may read tables from the disk.
const ASK_EVERY: u64 = 1 << 6;

/// How a position looks some turns later: nothing of it is proved unless it says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// The move that looks best.
    pub best: Pit,
    /// The final store difference for the mover, as it looks.
    pub value: i64,
    /// Turns that were looked ahead.
    pub turns: u32,
    /// Whether every line ended in what is proved: the value is exact and the move best.
    pub exact: bool,
}

/// A look ahead under way.
struct Look<'s, 'a> {
    solver: &'s Solver<'a>,
    positions: u64,
    /// Whether some line ended in an estimate.
    estimated: bool,
}

impl Solver<'_> {
    /// Looks `turns` turns ahead, at least 1: alpha-beta with tables and proved bounds where there are some, and estimates
    /// elsewhere. `None` once the game is over.
    ///
    /// # Errors
    /// When stopped, the time was up, a table is damaged, or the position does not fit the solver.
    pub fn outlook(&self, position: &Position, turns: u32) -> Result<Option<Outlook>, SolveError> {
        let board = self.board(position)?;
        let mut look = Look { solver: self, positions: 0, estimated: false };
        let mut best = None;
        let mut low = -LIMIT;
        for pit in self.order(position, board) {
            let score = look.after(board, pit.index(), turns.max(1), (low, LIMIT))?;
            if best.is_none() || score > low {
                (best, low) = (Some(pit), score);
            }
        }
        let score = (low + SEED / 2).div_euclid(SEED).clamp(0, position.seeds() as i32) as u32;
        Ok(best.map(|best| Outlook { best, value: position.value(score), turns, exact: !look.estimated }))
    }
}

impl Look<'_, '_> {
    /// What the mover of `board` may collect with one move, in sixteenths of a seed (fail-soft).
    fn after(&mut self, board: Board, pit: usize, turns: u32, window: (i32, i32)) -> Result<i32, SolveError> {
        let sown = self.solver.sower.sow(board, pit);
        let (next, left) = (sown.next(), board.seeds() - sown.stored);
        let window = next_window(sown.again, sown.stored, board.seeds(), window);
        let score = self.score(next, turns - u32::from(!sown.again), window)?;
        Ok(collects(sown.again, sown.stored, left, score))
    }

    /// What the mover of `board` may collect, in sixteenths of a seed (fail-soft).
    fn score(&mut self, board: Board, turns: u32, (mut low, high): (i32, i32)) -> Result<i32, SolveError> {
        self.positions += 1;
        if self.positions.is_multiple_of(ASK_EVERY)
            && let Some(interrupted) = self.solver.interrupted()
        {
            return Err(interrupted);
        }
        if board.is_over() {
            return Ok(SEED * total(board.mover) as i32);
        }
        let known = self.solver.known(board)?;
        let (least, most) = (SEED * known.lower as i32, SEED * known.upper as i32);
        if least == most || least >= high {
            return Ok(least);
        }
        if most <= low {
            return Ok(most);
        }
        if turns == 0 {
            self.estimated = true;
            return Ok(self.solver.lookahead().estimate.score(board, board.seeds()).clamp(least, most));
        }
        let mut moves = Vec::with_capacity(self.solver.pits());
        for pit in (0..self.solver.pits()).filter(|pit| board.mover >> (8 * pit) & 0xff != 0) {
            let sown = self.solver.sower.sow(board, pit);
            moves.push((Promise::bonus(pit, sown.again, sown.stored, sown.next()), pit));
        }
        moves.sort_unstable_by_key(|&order| std::cmp::Reverse(order));
        let mut best = -LIMIT;
        for (_, pit) in moves {
            best = best.max(self.after(board, pit, turns, (low, high))?);
            low = low.max(best);
            if low >= high {
                break;
            }
        }
        Ok(best.clamp(least, most))
    }
}
