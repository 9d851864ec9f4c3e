use std::ops::{Add, Sub};

/// Returns the mover's score for one of its moves, from the score `next` after that move. `seeds`
/// are in play before the move, the move stores `stored`, and `again` is true if the mover moves
/// again.
///
/// `T` may count seeds or parts of a seed, and scores may be bounds. Loops over packed scores with
/// their own version are tested against this one.
#[inline]
pub fn mover_score<T: Add<Output = T> + Sub<Output = T>>(again: bool, stored: T, seeds: T, next: T) -> T {
    // The mover collects the seeds that the opponent does not, including those stored by the move.
    if again { stored + next } else { seeds - next }
}

/// Converts the final store difference for the player who moves next into the mover's. `again` is
/// as for [`mover_score`].
#[inline]
pub fn mover_value(again: bool, next: i64) -> i64 {
    mover_score(again, 0, 0, next)
}
