use super::board::Board;
use super::estimate::{Estimate, SEED};

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
    /// Of the move of `pit` that led to `next`, seen by who moves then, with `left` seeds in play.
    #[inline]
    pub fn new(estimate: &Estimate, pit: usize, again: bool, stored: u32, next: Board, left: u32) -> Promise {
        let collects = collects(again, stored, left, estimate.score(next, left));
        Promise { collects, bonus: Promise::bonus(pit, again, stored, next) }
    }

    /// What speaks for a move beside what is collected.
    #[inline]
    pub fn bonus(pit: usize, again: bool, stored: u32, next: Board) -> i32 {
        let turn = if again { AGAIN } else { -REPLY * filled(next.mover) };
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
    SEED * stored as i32 + if again { next } else { SEED * left as i32 - next }
}

/// The pits of a row that hold seeds.
#[inline]
fn filled(row: u64) -> i32 {
    // No pit holds more than 127 seeds, so no byte overflows into the next.
    ((row + 0x7f7f_7f7f_7f7f_7f7f) & 0x8080_8080_8080_8080).count_ones() as i32
}
