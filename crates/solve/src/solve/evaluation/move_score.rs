use std::cmp::Reverse;

use kalah_core::evaluation::SEED;
use kalah_core::game::{Pit, Position, Rules, mover_score, sow};

use crate::solve::packed::{Board, Word};

/// Bonus for each seed stored, in addition to the seed itself.
const STORED: i32 = 3 * SEED;

/// Bonus for each pit that the move is nearer to the store.
const NEARNESS: i32 = SEED / 2;

/// Bonus for each pit that is empty in the row of an opponent who replies.
const REPLY: i32 = SEED;

/// Bonus for an again-move.
const AGAIN: i32 = 8 * SEED;

/// Move-ordering score: moves with a larger one are searched first.
///
/// Its aim is the smallest proof, rather than the move most likely to be best (docs/measurements.md): few seeds
/// left, few replies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MoveScore {
    /// The evaluation of the move for the mover, in sixteenths of a seed.
    pub evaluation: i32,
    /// Bonus for the kind of move.
    bonus: i32,
}

impl MoveScore {
    /// The score of the move of `pit` that led to `next`, seen by the player to move next. Its evaluation must
    /// still be set.
    #[inline]
    pub(crate) fn new<W: Word>(pit: usize, again: bool, stored: u32, next: Board<W>) -> MoveScore {
        MoveScore { evaluation: 0, bonus: MoveScore::bonus(pit, again, stored, next) }
    }

    /// Bonus on the evaluation of a move.
    #[inline]
    pub(crate) fn bonus<W: Word>(pit: usize, again: bool, stored: u32, next: Board<W>) -> i32 {
        let turn = if again { AGAIN } else { -REPLY * next.mover.filled() as i32 };
        STORED * stored as i32 + NEARNESS * pit as i32 + turn
    }

    /// The sum of evaluation and bonus.
    #[inline]
    pub(crate) fn total(self) -> i32 {
        self.evaluation + self.bonus
    }
}

/// The evaluation of a move for its mover, in sixteenths of a seed. The move stores `stored` seeds. `next` is
/// the evaluation of the position after it, with `left` seeds in play, for the player to move next.
#[inline]
pub(crate) fn mover_evaluation(again: bool, stored: u32, left: u32, next: i32) -> i32 {
    mover_score(again, SEED * stored as i32, SEED * (stored + left) as i32, next)
}

/// Swaps the first of the moves with the largest `score` to the front. Most searches end with one of the first
/// moves, so the rest is never sorted.
#[inline]
pub(crate) fn select<T>(moves: &mut [T], score: impl Fn(&T) -> i32) {
    if let Some(best) = (0..moves.len()).rev().max_by_key(|&index| score(&moves[index])) {
        moves.swap(0, best);
    }
}

/// The moves in roughly the order of the search, so that moves with proved bounds come first.
pub(crate) fn in_order(rules: Rules, position: &Position) -> Vec<Pit> {
    let mut moves: Vec<Pit> = position.moves().collect();
    let key = |pit: &Pit| {
        let sown = sow(rules, position.mover(), position.other(), *pit);
        Reverse((sown.again, 4 * sown.stored as usize + pit.index()))
    };
    moves.sort_by_key(key);
    moves
}
