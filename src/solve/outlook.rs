use super::board::Board;
use super::engine::{Engine, Interrupted};
use super::estimate::SEED;
use super::horizon::{Ahead, MOST_MOVES};
use super::lookahead::{LIMIT, next_window};
use super::order::{Promise, collects};
use super::solution::in_order;
use super::solver::{SolveError, Solver};
use super::word::Word;
use crate::game::{Pit, Position};

/// Positions between two looks at the clock; each may read tables from the disk.
const ASK_EVERY: u64 = 1 << 4;

/// Positions that a look may take where nothing else is said: a second or two.
const LOOK_POSITIONS: u64 = 1 << 20;

/// How a position looks some turns later: nothing of it is proved unless it says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// The move that looks best.
    pub best: Pit,
    /// The final store difference for the mover, as it looks.
    pub value: i64,
    /// How far was looked ahead.
    pub ahead: Ahead,
    /// Whether every line ended in what is proved: the value is exact and the move best.
    pub exact: bool,
}

impl Solver<'_> {
    /// Looks `turns` turns ahead, at least 1: alpha-beta with tables and proved bounds where there are some, and estimates
    /// elsewhere. `None` once the game is over.
    ///
    /// Where so many turns take more than a million positions, it looks as many moves ahead as it can with as many
    /// positions for each.
    ///
    /// # Errors
    /// When stopped, the time was up, a table is damaged, or the position does not fit the solver.
    pub fn outlook(&self, position: &Position, turns: u32) -> Result<Option<Outlook>, SolveError> {
        match self.look(position, Ahead::Turns(turns.max(1)), LOOK_POSITIONS) {
            Err(SolveError::TooLong) => {}
            looked => return looked,
        }
        let mut best = self.glance(position)?;
        for moves in 2..=MOST_MOVES {
            match self.look(position, Ahead::Moves(moves), LOOK_POSITIONS) {
                Ok(Some(outlook)) if !outlook.exact => best = Some(outlook),
                Err(SolveError::TooLong) => break,
                looked => return looked,
            }
        }
        Ok(best)
    }

    /// Looks one move ahead, which takes next to no time: neither a deadline nor a stop ends it. `None` once the game is
    /// over.
    ///
    /// # Errors
    /// When a table is damaged, or the position does not fit the solver.
    pub fn glance(&self, position: &Position) -> Result<Option<Outlook>, SolveError> {
        self.check(position)?;
        self.engine.outlook(position, Ahead::Moves(1), LOOK_POSITIONS, &|| None)
    }

    /// Looks ahead, at `positions` positions at the most.
    ///
    /// # Errors
    /// [`SolveError::TooLong`] when they do not suffice; else as [`Solver::outlook`].
    pub(crate) fn look(
        &self,
        position: &Position,
        ahead: Ahead,
        positions: u64,
    ) -> Result<Option<Outlook>, SolveError> {
        self.check(position)?;
        self.engine.outlook(position, ahead, positions, &|| self.interrupted())
    }
}

/// The same for an engine and the board of the position.
pub(super) fn outlook<W: Word>(
    engine: &Engine<W>,
    interrupted: &Interrupted,
    position: &Position,
    board: Board<W>,
    ahead: Ahead,
    positions: u64,
) -> Result<Option<Outlook>, SolveError> {
    let mut look = Look { engine, interrupted, left: positions, estimated: false };
    let mut best = None;
    let mut low = -LIMIT;
    for pit in in_order(engine.sower.rules(), position) {
        let score = look.after(board, pit.index(), ahead.limits(), (low, LIMIT))?;
        if best.is_none() || score > low {
            (best, low) = (Some(pit), score);
        }
    }
    let score = (low + SEED / 2).div_euclid(SEED).clamp(0, position.seeds() as i32) as u32;
    Ok(best.map(|best| Outlook { best, value: position.value(score), ahead, exact: !look.estimated }))
}

/// A look ahead under way.
struct Look<'s, 'a, W: Word> {
    engine: &'s Engine<'a, W>,
    interrupted: &'s Interrupted<'s>,
    /// Positions that may still be looked at.
    left: u64,
    /// Whether some line ended in an estimate.
    estimated: bool,
}

impl<W: Word> Look<'_, '_, W> {
    /// What the mover of `board` may collect with one move, in sixteenths of a seed (fail-soft).
    ///
    /// `limits` are the moves and turns to look ahead.
    fn after(
        &mut self,
        board: Board<W>,
        pit: usize,
        limits: (u32, u32),
        window: (i32, i32),
    ) -> Result<i32, SolveError> {
        let sown = self.engine.sower.sow(board, pit);
        let (next, left) = (sown.next(), board.seeds() - sown.stored);
        let window = next_window(sown.again, sown.stored, board.seeds(), window);
        let (moves, turns) = limits;
        let score = self.score(next, (moves - 1, turns - u32::from(!sown.again)), window)?;
        Ok(collects(sown.again, sown.stored, left, score))
    }

    /// What the mover of `board` may collect, in sixteenths of a seed (fail-soft).
    fn score(&mut self, board: Board<W>, limits: (u32, u32), (mut low, high): (i32, i32)) -> Result<i32, SolveError> {
        self.left = self.left.checked_sub(1).ok_or(SolveError::TooLong)?;
        if self.left.is_multiple_of(ASK_EVERY)
            && let Some(interrupted) = (self.interrupted)()
        {
            return Err(interrupted);
        }
        if board.is_over() {
            return Ok(SEED * board.mover.total() as i32);
        }
        let known = self.engine.known_of(board)?;
        let (least, most) = (SEED * known.lower as i32, SEED * known.upper as i32);
        if least == most || least >= high {
            return Ok(least);
        }
        if most <= low {
            return Ok(most);
        }
        if limits.0 == 0 || limits.1 == 0 {
            self.estimated = true;
            return Ok(self.engine.estimate.score(board, board.seeds()).clamp(least, most));
        }
        let pits = self.engine.sower.pits();
        let mut moves = Vec::with_capacity(pits);
        for pit in (0..pits).filter(|&pit| board.mover.seeds_in(pit) != 0) {
            let sown = self.engine.sower.sow(board, pit);
            moves.push((Promise::bonus(pit, sown.again, sown.stored, sown.next()), pit));
        }
        moves.sort_unstable_by_key(|&order| std::cmp::Reverse(order));
        let mut best = -LIMIT;
        for (_, pit) in moves {
            best = best.max(self.after(board, pit, limits, (low, high))?);
            low = low.max(best);
            if low >= high {
                break;
            }
        }
        Ok(best.clamp(least, most))
    }
}
