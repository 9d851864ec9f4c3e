use kalah_core::game::Position;
use kalah_core::index::{MAX_RANKED_SEEDS, sequence_position, sequence_rank, sequences};

/// Maximum seeds in play of a position in a certificate.
pub const MAX_SEEDS: usize = MAX_RANKED_SEEDS;

/// Bits of a key below the seeds in play.
const RANK_BITS: u32 = 120;

/// Keys of the positions of a board, without stores. The claims of a certificate are sorted by them.
///
/// A key has the seeds in play in its 8 highest bits, and below them the [sequence rank](sequence_rank) of the
/// position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimKeys {
    pits: usize,
}

impl ClaimKeys {
    /// The keys of boards with `pits` pits a side. A board that does not exist has no keys.
    pub fn new(pits: usize) -> ClaimKeys {
        ClaimKeys { pits }
    }

    /// Pits a side.
    pub fn pits(&self) -> usize {
        self.pits
    }

    /// Number of sequences of 2m pits with `seeds` seeds. `None` if their positions have no keys: there are
    /// more than 255 seeds, or 2^120 or more sequences.
    pub fn sequences(&self, seeds: usize) -> Option<u128> {
        sequences(self.pits, seeds)
    }

    /// The key of a position, whose stores do not matter. `None` if it has none: it has another number of pits,
    /// or too many seeds ([`ClaimKeys::sequences`]).
    pub fn key(&self, position: &Position) -> Option<u128> {
        let rank = sequence_rank(position).filter(|_| position.pits() == self.pits)?;
        Some(ClaimKeys::of_rank(position.seeds() as usize, rank))
    }

    /// The key of the position with these seeds in play and this rank.
    pub fn of_rank(seeds: usize, rank: u128) -> u128 {
        (seeds as u128) << RANK_BITS | rank
    }

    /// The seeds in play and the rank of a key.
    pub(crate) fn parts(key: u128) -> (usize, u128) {
        ((key >> RANK_BITS) as usize, key & ((1 << RANK_BITS) - 1))
    }

    /// The position with this key, with empty stores; `None` if no position has it. Inverse of [`ClaimKeys::key`].
    pub fn position(&self, key: u128) -> Option<Position> {
        let (seeds, rank) = ClaimKeys::parts(key);
        sequence_position(self.pits, seeds, rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_ascend_with_seeds_and_rank_and_lead_back() {
        let keys = ClaimKeys::new(2);
        let mut last = None;
        for seeds in 0..6 {
            for rank in 0..keys.sequences(seeds).expect("few seeds") {
                let key = ClaimKeys::of_rank(seeds, rank);
                let position = keys.position(key).expect("the rank is below the number of sequences");
                assert_eq!((keys.key(&position), position.seeds() as usize), (Some(key), seeds));
                assert!(last < Some(key));
                last = Some(key);
            }
        }
        assert_eq!(keys.key(&"3x1".parse().expect("a start position")), None);
    }
}
