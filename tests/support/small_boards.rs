//! All positions of small boards.

use kalah_core::game::{Position, Row};

/// Boards with few positions: pits a side and the most seeds in play. On the smallest ones seeds go around many times.
const BOARDS: [(usize, u32); 8] = [(1, 40), (2, 15), (3, 10), (4, 7), (5, 6), (6, 5), (7, 4), (8, 4)];

/// Calls `each` with every position without stores of each small board, finished games included.
pub fn each_position(mut each: impl FnMut(&Position)) {
    BOARDS.into_iter().for_each(|(pits, seeds)| each_position_of(pits, seeds, &mut each));
}

/// Calls `each` with every position without stores of `pits` pits a side and at most `seeds` seeds.
pub fn each_position_of(pits: usize, seeds: u32, mut each: impl FnMut(&Position)) {
    fn fill(places: &mut Vec<u32>, pits: usize, left: u32, each: &mut impl FnMut(&Position)) {
        if places.len() == 2 * pits {
            let row = |seeds: &[u32]| Row::new(seeds).unwrap();
            return each(&Position::new(row(&places[..pits]), row(&places[pits..]), 0, 0).unwrap());
        }
        for seeds in 0..=left {
            places.push(seeds);
            fill(places, pits, left - seeds, each);
            places.pop();
        }
    }
    fill(&mut Vec::new(), pits, seeds, &mut each);
}
