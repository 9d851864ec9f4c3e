//! Positions without stores as numbers, one layer after the other.

use kalah_core::game::Position;
use kalah_core::index::{MAX_RANKED_SEEDS, sequence_position, sequence_rank, sequences};

/// The most seeds in play of positions that have a key: bounds of their scores fit a byte.
pub(super) const MAX_SEEDS: u32 = MAX_RANKED_SEEDS as u32;

/// How many positions without stores have `pits` pits a side and `seeds` seeds in play, finished games included; `None`
/// if they have no keys: the seeds are more than [`MAX_SEEDS`], or the number does not fit 64 bits.
pub(super) fn positions(pits: usize, seeds: u32) -> Option<u64> {
    u64::try_from(sequences(pits, seeds as usize)?).ok()
}

/// The [rank](sequence_rank) of a position among all with as many pits and seeds in play, stores left out; `None` if it
/// has no key.
pub(super) fn key(position: &Position) -> Option<u64> {
    positions(position.pits(), position.seeds())?;
    u64::try_from(sequence_rank(position)?).ok()
}

/// The position, without stores, with this key; `None` if there is none.
pub(super) fn position(pits: usize, seeds: u32, key: u64) -> Option<Position> {
    positions(pits, seeds)?;
    sequence_position(pits, seeds as usize, key.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_boards_have_keys_as_long_as_they_fit() {
        for literal in ["6x4", "6x6", "6x10", "4x12", "3x40"] {
            let start: Position = literal.parse().unwrap();
            let number = key(&start).unwrap();
            assert_eq!(position(start.pits(), start.seeds(), number), Some(start));
        }
        assert_eq!(key(&"16x4".parse().unwrap()), None);
        assert_eq!(key(&"1x200".parse().unwrap()), None);
        assert_eq!(position(6, 24, u64::MAX), None);
    }
}
