use std::ops::{Add, Sub};

/// What the mover of a position collects of its seeds in play, when the player who moves next collects `next` after a move
/// that stores `stored` of these `seeds`; `again` tells whether that player is the mover still.
///
/// In seeds, in parts of a seed, or in bounds of them; loops over packed scores that write this out anew are tested against
/// it.
#[inline]
pub fn mover_score<T: Add<Output = T> + Sub<Output = T>>(again: bool, stored: T, seeds: T, next: T) -> T {
    // The opponent leaves the mover the remainder; what the move stored is part of it.
    if again { stored + next } else { seeds - next }
}

/// A final store difference for the mover, told for the player who moves next; `again` as for [`mover_score`].
#[inline]
pub fn mover_value(again: bool, next: i64) -> i64 {
    mover_score(again, 0, 0, next)
}
