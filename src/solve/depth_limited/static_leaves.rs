use crate::solve::evaluation::{MoveScore, SEED, StaticEvaluation, mover_evaluation, select};
use crate::solve::packed::{Board, Moves, Sower, Sown, Word};

/// Larger than any evaluation.
pub(crate) const LIMIT: i32 = i32::MAX / 4;

/// Nodes between two readings of the clock; with their moves they take a fraction of a millisecond.
const ASK_EVERY: u32 = 1 << 8;

/// Depth-limited search with static evaluations at its leaves: alpha-beta without tables, proved bounds or transpositions.
pub(crate) struct StaticSearch<'a, W> {
    pub sower: &'a Sower<W>,
    pub evaluation: &'a StaticEvaluation,
    /// Returns whether to stop searching deeper.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
}

impl<W: Word> StaticSearch<'_, W> {
    /// The evaluation of `board`, with `seeds` seeds in play, to a depth of `turns` turns: what its mover collects, in
    /// sixteenths of a seed; a bound if that is outside the window (fail-soft). Each node decrements `left`. At 0 the
    /// remaining leaves get static evaluations; an interruption sets it to 0.
    pub fn search(&self, board: Board<W>, seeds: u32, turns: u32, (mut low, high): (i32, i32), left: &mut u32) -> i32 {
        if board.is_over() {
            return SEED * board.mover.total() as i32;
        }
        if turns == 0 || *left == 0 {
            return self.evaluation.of(board, seeds);
        }
        *left -= 1;
        if left.is_multiple_of(ASK_EVERY) && (self.interrupted)() {
            *left = 0;
            return self.evaluation.of(board, seeds);
        }
        let mut best = -LIMIT;
        let mut moves = W::Moves::<(i32, Sown<W>)>::default();
        for pit in (0..self.sower.pits()).rev().filter(|pit| board.mover.seeds_in(*pit) != 0) {
            let sown = self.sower.sow(board, pit);
            let Sown { stored, again, .. } = sown;
            if turns == 1 && !again {
                // Only above leaves: sorting the moves to leaves costs as much as evaluating them.
                let rest = seeds - stored;
                let next = self.search(sown.next(), rest, 0, (low, high), left);
                best = best.max(mover_evaluation(again, stored, rest, next));
                continue;
            }
            moves.push((MoveScore::bonus(pit, again, stored, sown.next()), sown));
        }
        low = low.max(best);
        if low >= high {
            return best;
        }
        for index in 0..moves.len() {
            select(&mut moves[index..], |&(score, _)| score);
            let (_, sown) = moves[index];
            let Sown { stored, again, .. } = sown;
            let rest = seeds - stored;
            let window = next_window(again, stored, seeds, (low, high));
            let next = self.search(sown.next(), rest, turns - u32::from(!again), window, left);
            best = best.max(mover_evaluation(again, stored, rest, next));
            low = low.max(best);
            if low >= high {
                break;
            }
        }
        best
    }
}

/// The window of a position with `seeds` seeds in play, for the player to move after a move.
#[inline]
pub(crate) fn next_window(again: bool, stored: u32, seeds: u32, (low, high): (i32, i32)) -> (i32, i32) {
    if again {
        (low - SEED * stored as i32, high - SEED * stored as i32)
    } else {
        (SEED * seeds as i32 - high, SEED * seeds as i32 - low)
    }
}
