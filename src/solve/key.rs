use super::board::{Board, MAX_BOARD_PITS, MAX_BOARD_SEEDS, sums};

/// Bytes of packed sums, with some to spare for any index of 8 bits.
const SUMS: usize = 256;

/// Numbers the rows and positions with up to a given number of seeds in play, without gaps.
///
/// A row of `m` pits is the weakly rising sequence of its sums s1 <= .. <= sm from the first pit on. Sequences with
/// sm <= n are numbered from 0 to C(n+m, m) - 1 by the sum of C(si + i - 1, i): the combinatorial number system. Rows with
/// fewer seeds have lower numbers. A position is then numbered by the seeds of the mover's row, the row's number among
/// those with as many, and the number of the other row among all that fit beside it, 0 to C(n+2m, 2m) - 1.
pub struct Keys {
    /// `terms[i][s]`: C(s + i, i + 1), the rows that come before because of their `i`-th sum; 0 beyond the board.
    terms: Box<[[u64; SUMS]; MAX_BOARD_PITS]>,
    /// By the seeds of the mover's row: the rows that fit beside it, and what else belongs to its keys.
    frames: Box<[(u64, u64); SUMS]>,
    count: u64,
}

impl Keys {
    /// Keys of the boards with `pits` pits a side and up to `seeds` seeds in play; `None` when they number 2^63 or more.
    ///
    /// # Panics
    /// When `pits` is not 1 to [`MAX_BOARD_PITS`] or `seeds` more than [`MAX_BOARD_SEEDS`].
    pub fn new(pits: usize, seeds: usize) -> Option<Keys> {
        assert!((1..=MAX_BOARD_PITS).contains(&pits) && seeds <= MAX_BOARD_SEEDS, "{pits} pits, {seeds} seeds");
        let choose =
            |n: usize, k: usize| (1..=k as u128).fold(1u128, |product, i| product * (n as u128 - k as u128 + i) / i);
        let count = u64::try_from(choose(seeds + 2 * pits, 2 * pits)).ok().filter(|&count| count < 1 << 63)?;
        let mut terms = Box::new([[0; SUMS]; MAX_BOARD_PITS]);
        for (i, terms) in terms.iter_mut().enumerate().take(pits) {
            for (sum, term) in terms.iter_mut().enumerate().take(seeds + 1).skip(1) {
                *term = choose(sum + i, i + 1) as u64;
            }
        }
        let mut frames = Box::new([(0, 0); SUMS]);
        let mut before = 0u64;
        for mover in 0..=seeds {
            let beside = choose(seeds - mover + pits, pits) as u64;
            let fewer = if mover == 0 { 0 } else { choose(mover - 1 + pits, pits) as u64 };
            // Numbers of rows with exactly `mover` seeds begin at `fewer`.
            frames[mover] = (beside, before.wrapping_sub(fewer.wrapping_mul(beside)));
            before += choose(mover + pits - 1, pits - 1) as u64 * beside;
        }
        debug_assert_eq!(before, count);
        Some(Keys { terms, frames, count })
    }

    /// The number of keys.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The number of a row, from its [`sums`].
    #[inline]
    pub(super) fn row(&self, sums: u64) -> u64 {
        let mut number = 0;
        for (terms, sum) in self.terms.iter().zip(sums.to_le_bytes()) {
            number += terms[usize::from(sum)];
        }
        number
    }

    /// The key of a position from the numbers of its rows and the seeds of the mover's.
    #[inline]
    pub(super) fn combine(&self, mover: u64, mover_seeds: u32, other: u64) -> u64 {
        let (beside, offset) = self.frames[mover_seeds as usize & (SUMS - 1)];
        mover.wrapping_mul(beside).wrapping_add(offset).wrapping_add(other)
    }

    /// The key of a board, below [`Keys::count`]; different boards have different keys.
    #[inline]
    pub fn key(&self, board: Board) -> u64 {
        let mover = sums(board.mover);
        self.combine(self.row(mover), (mover >> 56) as u32, self.row(sums(board.other)))
    }
}
