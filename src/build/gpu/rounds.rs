//! Which crossings of relays a device evaluates at the same time.

use crate::rows::Crossings;

/// Divides `crossings` into rounds of indices, ascending in each, so that no two of a round have one of the `rows` mover's rows in
/// common. So threads that evaluate a round do not race.
pub(super) fn rounds(crossings: &Crossings, rows: usize) -> Vec<Vec<u32>> {
    // The last round that raises each row, counted from 1.
    let mut last = vec![0u32; rows];
    let mut left: Vec<u32> = (0..crossings.all().len() as u32).collect();
    let mut rounds = Vec::new();
    while !left.is_empty() {
        let number = rounds.len() as u32 + 1;
        let (now, later) = left.into_iter().partition(|&crossing| {
            let movers = crossings.movers(crossing as usize);
            let is_free = movers.iter().all(|&row| last[row as usize] != number);
            if is_free {
                movers.iter().for_each(|&row| last[row as usize] = number);
            }
            is_free
        });
        rounds.push(now);
        left = later;
    }
    rounds
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::game::Rules;
    use crate::index::RowIndex;
    use crate::rows::{Moves, RowMaps};

    #[test]
    fn each_crossing_is_in_one_round_and_each_row_at_most_once_in_each() {
        for (pits, seeds) in [(6, 12), (8, 7), (3, 15), (2, 20), (1, 9)] {
            let maps = RowMaps::new(Arc::new(RowIndex::new(pits, seeds)));
            let rows = maps.rows().rows(seeds);
            let crossings = Crossings::new(rows, &Moves::new(Rules::SKalaha, &maps, seeds));
            let rounds = rounds(&crossings, rows);
            let mut all: Vec<u32> = rounds.concat();
            all.sort_unstable();
            assert!(all.iter().copied().eq(0..crossings.all().len() as u32), "{pits} pits");
            for round in &rounds {
                assert!(!round.is_empty() && round.is_sorted());
                let mut raised: Vec<u32> =
                    round.iter().flat_map(|&crossing| crossings.movers(crossing as usize)).copied().collect();
                raised.sort_unstable();
                assert!(raised.windows(2).all(|two| two[0] < two[1]), "{pits} pits: a row twice in a round");
            }
        }
    }
}
