use std::fmt;

use crate::game::{MAX_PITS, Position, Row};

/// The most seeds in play of a position in a certificate.
pub const MAX_SEEDS: usize = 255;

/// Bits of a key below the seeds in play.
const RANK_BITS: u32 = 120;

/// The numbers by which the claims of a certificate are sorted: of the positions of a board, without stores.
///
/// A key has the seeds in play in its 8 highest bits, and below them the *rank*: the number of the position among all
/// sequences of 2m pits (the mover's row, then the other one) with as many seeds. Let p(i) be the sum of the first i
/// pits. Then p(1), p(2) + 1, ..., p(2m-1) + 2m - 2 ascend strictly, and the rank is the number of this set in the
/// combinatorial number system (Lehmer): the sum of C(p(i) + i - 1, i) over i from 1 to 2m - 1.
#[derive(Clone)]
pub struct Keys {
    pits: usize,
    /// `binomials[i][c]` is C(c, i), or the largest number if it is larger than that.
    binomials: Vec<Vec<u128>>,
}

impl Keys {
    /// The keys of boards with `pits` pits a side, 1 to [`MAX_PITS`].
    ///
    /// # Panics
    /// Outside this range.
    pub fn new(pits: usize) -> Keys {
        assert!((1..=MAX_PITS).contains(&pits), "{pits} pits");
        let (lower, upper) = (2 * pits, MAX_SEEDS + 2 * pits);
        let mut binomials = vec![vec![0u128; upper + 1]; lower];
        binomials[0].fill(1);
        for i in 1..lower {
            for c in 1..=upper {
                binomials[i][c] = binomials[i][c - 1].saturating_add(binomials[i - 1][c - 1]);
            }
        }
        Keys { pits, binomials }
    }

    /// Pits a side.
    pub fn pits(&self) -> usize {
        self.pits
    }

    /// Sequences of 2m pits with `seeds` seeds; `None` if positions with so many seeds have no keys: above 255 seeds,
    /// or 2^120 sequences.
    pub fn sequences(&self, seeds: usize) -> Option<u128> {
        let count = *self.binomials[2 * self.pits - 1].get(seeds + 2 * self.pits - 1)?;
        (seeds <= MAX_SEEDS && count <= 1 << RANK_BITS).then_some(count)
    }

    /// The key of a position, whose stores do not matter; `None` if it has none: the number of pits is another, or
    /// there are too many seeds, see [`Keys::sequences`].
    pub fn key(&self, position: &Position) -> Option<u128> {
        let seeds = position.seeds() as usize;
        if position.pits() != self.pits {
            return None;
        }
        self.sequences(seeds)?;
        let (mut rank, mut sum) = (0, 0);
        let pits = position.mover().seeds().iter().chain(position.other().seeds());
        for (i, &pit) in (1..2 * self.pits).zip(pits) {
            sum += pit as usize;
            rank += self.binomials[i][sum + i - 1];
        }
        Some(Keys::of_rank(seeds, rank))
    }

    /// The key of the position with so many seeds in play and this rank.
    pub(super) fn of_rank(seeds: usize, rank: u128) -> u128 {
        (seeds as u128) << RANK_BITS | rank
    }

    /// The seeds in play and the rank of a key.
    pub(super) fn parts(key: u128) -> (usize, u128) {
        ((key >> RANK_BITS) as usize, key & ((1 << RANK_BITS) - 1))
    }

    /// The position with this key, with empty stores: the inverse of [`Keys::key`]; `None` if no position has it.
    pub fn position(&self, key: u128) -> Option<Position> {
        let (seeds, mut rank) = Keys::parts(key);
        if rank >= self.sequences(seeds)? {
            return None;
        }
        let places = 2 * self.pits;
        let mut pits = [0u32; 2 * MAX_PITS];
        // The sum of the pits up to the one at hand.
        let mut sum = seeds;
        for i in (1..places).rev() {
            let column = &self.binomials[i][i - 1..=i - 1 + sum];
            let before = column.partition_point(|&count| count <= rank) - 1;
            rank -= column[before];
            pits[i] = (sum - before) as u32;
            sum = before;
        }
        pits[0] = sum as u32;
        let row = |pits: &[u32]| Row::new(pits);
        Position::new(row(&pits[..self.pits])?, row(&pits[self.pits..places])?, 0, 0).ok()
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("pits", &self.pits).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_have_no_gaps_and_every_key_leads_back() {
        for (pits, seeds) in [(1, 9), (2, 7), (3, 5)] {
            let keys = Keys::new(pits);
            let count = keys.sequences(seeds).expect("few seeds");
            for rank in 0..count {
                let key = Keys::of_rank(seeds, rank);
                let position = keys.position(key).expect("the rank is below the number of sequences");
                assert_eq!(position.seeds() as usize, seeds);
                assert_eq!(keys.key(&position), Some(key));
            }
            assert_eq!(keys.position(Keys::of_rank(seeds, count)), None);
        }
    }

    #[test]
    fn keys_of_large_boards_lead_back_or_do_not_exist() {
        for text in ["16x5", "12x10", "6x21", "1x127", "8x15"] {
            let position: Position = text.parse().expect("a start position");
            let keys = Keys::new(position.pits());
            let key = keys.key(&position).expect("few enough seeds");
            assert_eq!(keys.position(key), Some(position));
        }
        for text in ["16x7", "1x128", "6x22"] {
            let position: Position = text.parse().expect("a start position");
            assert_eq!(Keys::new(position.pits()).key(&position), None, "{text}");
        }
    }
}
