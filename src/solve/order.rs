use super::board::Board;
use super::estimate::SEED;
use super::word::Word;
use crate::game::mover_score;

/// How many seeds' worth one moves earlier for a seed stored, beside that seed itself.
const STORED: i32 = 3 * SEED;

/// For being one pit nearer to the store.
const NEARNESS: i32 = SEED / 2;

/// For each pit with seeds, less, of the opponent who is to reply.
const REPLY: i32 = SEED;

/// For moving again.
const AGAIN: i32 = 8 * SEED;

/// What is thought of a move before it is searched.
///
/// What pays is not the likeliest best move but the smallest proof (docs/measurements.md): few seeds left and few replies.
#[derive(Clone, Copy)]
pub(super) struct Promise {
    /// What the mover may collect with it, in sixteenths of a seed.
    pub collects: i32,
    /// What else speaks for it.
    bonus: i32,
}

impl Promise {
    /// Of the move of `pit` that led to `next`, seen by who moves then; what is collected is still to be estimated.
    #[inline]
    pub fn new<W: Word>(pit: usize, again: bool, stored: u32, next: Board<W>) -> Promise {
        Promise { collects: 0, bonus: Promise::bonus(pit, again, stored, next) }
    }

    /// What speaks for a move beside what is collected.
    #[inline]
    pub fn bonus<W: Word>(pit: usize, again: bool, stored: u32, next: Board<W>) -> i32 {
        let turn = if again { AGAIN } else { -REPLY * next.mover.filled() as i32 };
        STORED * stored as i32 + NEARNESS * pit as i32 + turn
    }

    /// Larger comes first.
    #[inline]
    pub fn order(self) -> i32 {
        self.collects + self.bonus
    }
}

/// What the mover collects in all if who moves next collects `next` of the seeds `left` in play, in sixteenths of a seed.
#[inline]
pub(super) fn collects(again: bool, stored: u32, left: u32, next: i32) -> i32 {
    mover_score(again, SEED * stored as i32, SEED * (stored + left) as i32, next)
}

/// Puts the first of the moves with the largest `order` first. Most searches end with one of the first moves: the rest is
/// never sorted.
#[inline]
pub(super) fn select<T>(moves: &mut [T], order: impl Fn(&T) -> i32) {
    if let Some(best) = (0..moves.len()).rev().max_by_key(|&index| order(&moves[index])) {
        moves.swap(0, best);
    }
}
