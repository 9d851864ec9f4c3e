//! Positions without stores as numbers, one layer after the other.

use std::sync::LazyLock;

use crate::game::{MAX_PITS, Position, Row};

/// The most seeds in play of positions that have a key: bounds of their scores fit a byte.
pub(super) const MAX_SEEDS: u32 = 255;

/// The most pits of a board, both sides together.
const MAX_CELLS: usize = 2 * MAX_PITS;

/// `CHOOSE[k][n]`: how many ways there are to choose k of n things, [`u64::MAX`] where it is more.
static CHOOSE: LazyLock<Vec<Vec<u64>>> = LazyLock::new(|| {
    let most = MAX_SEEDS as usize + MAX_CELLS;
    let mut choose = vec![vec![1; most + 1]];
    for k in 1..MAX_CELLS {
        let mut row = vec![0u64; most + 1];
        for n in 1..=most {
            row[n] = row[n - 1].saturating_add(choose[k - 1][n - 1]);
        }
        choose.push(row);
    }
    choose
});

/// How many positions without stores have `pits` pits a side and `seeds` seeds in play, finished games included; `None`
/// if they have no keys: the seeds are more than [`MAX_SEEDS`], or the number does not fit 64 bits.
pub(super) fn positions(pits: usize, seeds: u32) -> Option<u64> {
    if !(1..=MAX_PITS).contains(&pits) || seeds > MAX_SEEDS {
        return None;
    }
    let cells = 2 * pits;
    Some(CHOOSE[cells - 1][seeds as usize + cells - 1]).filter(|&positions| positions < u64::MAX)
}

/// The number of a position among all with as many pits and seeds in play, stores left out; `None` if it has no key.
///
/// The pits of the mover's row and then of the other row are read as a combination: with p(i) seeds in the first i of
/// the c pits, the key is the sum of C(p(i) + i - 1, i) for i from 1 to c - 1 (the combinatorial number system).
pub(super) fn key(position: &Position) -> Option<u64> {
    positions(position.pits(), position.seeds())?;
    let cells = position.mover().seeds().iter().chain(position.other().seeds());
    let (mut prefix, mut key) = (0, 0);
    for (i, &seeds) in (1..2 * position.pits()).zip(cells) {
        prefix += seeds as usize;
        key += CHOOSE[i][prefix + i - 1];
    }
    Some(key)
}

/// The position, without stores, with this key; `None` if there is none.
pub(super) fn position(pits: usize, seeds: u32, mut key: u64) -> Option<Position> {
    if key >= positions(pits, seeds)? {
        return None;
    }
    let (mut cells, mut above) = (vec![0; 2 * pits], seeds as usize);
    for i in (1..2 * pits).rev() {
        // The most seeds in the first i pits whose combination is not beyond the key.
        let below = CHOOSE[i].partition_point(|&choose| choose <= key) - 1;
        key -= CHOOSE[i][below];
        let prefix = below + 1 - i;
        cells[i] = (above - prefix) as u32;
        above = prefix;
    }
    cells[0] = above as u32;
    let (mover, other) = cells.split_at(pits);
    Position::new(Row::new(mover)?, Row::new(other)?, 0, 0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_has_its_own_key_without_gaps() {
        for (pits, seeds) in [(1, 7), (2, 6), (3, 5), (4, 0), (2, 1)] {
            let count = positions(pits, seeds).unwrap();
            for number in 0..count {
                let position = position(pits, seeds, number).unwrap();
                assert_eq!((position.pits(), position.seeds()), (pits, seeds));
                assert_eq!(key(&position), Some(number), "{position}");
            }
            assert_eq!(position(pits, seeds, count), None);
        }
    }

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
