use kalah_core::game::MAX_PITS;

use super::board::Board;
use super::word::Word;

/// Number of sums: enough for any index of 8 bits.
const SUMS: usize = 256;

/// Numbers the rows and positions with up to a given number of seeds in play, without gaps.
///
/// A row of `m` pits is the non-decreasing sequence of its sums s1 <= .. <= sm from the first pit on. Sequences
/// with sm <= n are numbered from 0 to C(n+m, m) - 1 by the sum of C(si + i - 1, i), the combinatorial number
/// system. Rows with fewer seeds have lower numbers.
///
/// A position is numbered 0 to C(n+2m, 2m) - 1: by the seeds of the mover's row, the row's number among those
/// with the same seeds, and the number of the other row among all that fit with it.
#[derive(Debug)]
pub struct BoardKeys<W> {
    /// `terms[i][s]`: C(s + i, i + 1), the number of rows that come before because of their `i`-th sum; 0
    /// beyond the board.
    terms: Box<[[W; SUMS]; MAX_PITS]>,
    /// By the seeds of the mover's row: number of other rows that fit with it, and offset of its keys.
    frames: Box<[(W, W); SUMS]>,
    count: u128,
}

impl<W: Word> BoardKeys<W> {
    /// Keys of the boards with `pits` pits a side and up to `seeds` seeds in play. `None` if the word is too
    /// small for such boards or for their keys, which may use all its bits but one.
    pub fn new(pits: usize, seeds: usize) -> Option<BoardKeys<W>> {
        if !(1..=W::PITS).contains(&pits) || seeds > W::SEEDS {
            return None;
        }
        let choose =
            |n: usize, k: usize| (1..=k as u128).fold(1u128, |product, i| product * (n as u128 - k as u128 + i) / i);
        let mut terms = Box::new([[W::default(); SUMS]; MAX_PITS]);
        for (i, terms) in terms.iter_mut().enumerate().take(pits) {
            for (sum, term) in terms.iter_mut().enumerate().take(seeds + 1).skip(1) {
                *term = W::truncate(choose(sum + i, i + 1));
            }
        }
        let mut frames = Box::new([(W::default(), W::default()); SUMS]);
        let mut before = 0u128;
        for mover in 0..=seeds {
            let beside = choose(seeds - mover + pits, pits);
            let fewer = if mover == 0 { 0 } else { choose(mover - 1 + pits, pits) };
            // Numbers of rows with exactly `mover` seeds begin at `fewer`.
            let offset = before.wrapping_sub(fewer.wrapping_mul(beside));
            frames[mover] = (W::truncate(beside), W::truncate(offset));
            before = choose(mover + pits - 1, pits - 1).checked_mul(beside)?.checked_add(before)?;
        }
        // At the end this is the number of all keys, C(n+2m, 2m).
        (before >> (W::BITS - 1) == 0).then_some(BoardKeys { terms, frames, count: before })
    }

    /// Number of keys.
    pub fn count(&self) -> u128 {
        self.count
    }

    /// The term of the sum of seeds up to the pit with index `pit` in the number of a row.
    #[inline]
    pub(crate) fn term(&self, pit: usize, sum: usize) -> W {
        self.terms[pit][sum]
    }

    /// The number of a row, from its [`Word::sums`].
    #[inline]
    pub(crate) fn row(&self, sums: W) -> W {
        let mut number = W::default();
        for (terms, sum) in self.terms.iter().zip(sums.bytes()) {
            number += terms[usize::from(sum)];
        }
        number
    }

    /// The key of a position, from the numbers of its rows and the seeds of the mover's row.
    #[inline]
    pub(crate) fn combine(&self, mover: W, mover_seeds: u32, other: W) -> W {
        let (beside, offset) = self.frames[mover_seeds as usize & (SUMS - 1)];
        mover.wrapping_mul(beside).wrapping_add(offset).wrapping_add(other)
    }

    /// The key of a board, below [`BoardKeys::count`]; different boards have different keys.
    #[inline]
    pub fn key(&self, board: Board<W>) -> W {
        let mover = board.mover.sums();
        self.combine(self.row(mover), mover.last(), self.row(board.other.sums()))
    }
}
