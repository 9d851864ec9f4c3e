//! Numbers of positions without stores, layer by layer.

use kalah_core::game::Position;
use kalah_core::index::{MAX_RANKED_SEEDS, sequence_position, sequence_rank, sequences};

/// Maximum seeds in play of a position with a key: bounds of its score fit a byte.
pub(super) const MAX_SEEDS: u32 = MAX_RANKED_SEEDS as u32;

/// Number of positions without stores that have `pits` pits a side and `seeds` seeds in play, finished games
/// included. `None` if they have no keys: there are more than [`MAX_SEEDS`] seeds, or the number does not fit
/// 64 bits.
pub(super) fn positions(pits: usize, seeds: u32) -> Option<u64> {
    u64::try_from(sequences(pits, seeds as usize)?).ok()
}

/// The [sequence rank](sequence_rank) of a position, which leaves out stores; `None` if it has no key.
pub(super) fn key(position: &Position) -> Option<u64> {
    positions(position.pits(), position.seeds())?;
    u64::try_from(sequence_rank(position)?).ok()
}

/// The position with this key, without stores; `None` if no position has it.
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
