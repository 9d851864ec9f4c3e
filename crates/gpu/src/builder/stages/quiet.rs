//! Shared parameters of the stages for quiet moves.

use crate::device::params;

params! {
    /// Parameters of the stages for quiet moves.
    ///
    /// Buffers, where scores have a run for each large row:
    /// - moves of the side to move
    /// - captures of the other side's rows (standard rules only); of the small side's rows, for each
    ///   pit a whole number of words of scores
    /// - scores with the other side to move
    /// - scores with the side to move
    pub struct Quiet {
        /// Threads: one for each word of each large row.
        threads,
        /// The first large row.
        first_row,
        /// Words of a run.
        words,
        /// Seeds in play.
        total,
        /// For the large side: start of the entries in the moves, which begin with the starts of
        /// each row's entries.
        ///
        /// For the small side: start of the quiet moves for four rows at once, a multiple of 4. Each
        /// word of a run has four words here: the number of its first entry, that of the entry after
        /// its last, and two zeros. An entry has a word for each of the four rows: the rank after a
        /// move in the lower [`RANK_BITS`](super::RANK_BITS) bits, a condition above. The condition is 0 for a move
        /// that is always possible, the number (from 1) of the large row's pit that must be empty,
        /// or [`NO_MOVE`](super::NO_MOVE).
        moves_at,
        /// For the small side: distance from one pit to the next in the captures.
        map_stride,
        /// The first word of the scores with the small side to move that is in its buffer.
        small_base,
        /// The first word of the scores with the large side to move that is in its buffer.
        large_base,
        /// For the large side: only moves to large rows from this one on count.
        first_child,
        /// For the large side: the number of large rows to which moves count.
        child_rows,
    }
}
