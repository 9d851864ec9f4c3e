use std::ops::{Add, Sub};

/// The score of a position for one of its moves, from the score `next` after that move. `seeds` are the seeds in play
/// before the move, `stored` those that it stores; `again` is whether the mover moves again.
///
/// `T` may count seeds or parts of a seed, and the scores may be bounds. Loops over packed scores that have their own
/// version are tested against this one.
#[inline]
pub fn mover_score<T: Add<Output = T> + Sub<Output = T>>(again: bool, stored: T, seeds: T, next: T) -> T {
    // The mover collects what the opponent does not, which includes what the move stored.
    if again { stored + next } else { seeds - next }
}

/// The final store difference for the mover, from that for the player who moves next; `again` as for [`mover_score`].
#[inline]
pub fn mover_value(again: bool, next: i64) -> i64 {
    mover_score(again, 0, 0, next)
}
