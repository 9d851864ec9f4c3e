//! Selects the crossings of relays that a device evaluates at the same time, by an edge colouring.
//! Each crossing is an edge that joins the mover's rows that it raises. A colour is a round.

use kalah_tables::rows::Crossings;

/// Colours `crossings` one after the other, so that no two of one colour share one of the `rows`
/// mover's rows. Threads that evaluate a colour therefore do not race. Returns the crossings of
/// each colour by their indices, ascending.
pub(super) fn edge_colouring(crossings: &Crossings, rows: usize) -> Vec<Vec<u32>> {
    // Last colour that raises each row, counted from 1.
    let mut last = vec![0u32; rows];
    let mut left: Vec<u32> = (0..crossings.all().len() as u32).collect();
    let mut colours = Vec::new();
    while !left.is_empty() {
        let number = colours.len() as u32 + 1;
        let (now, later) = left.into_iter().partition(|&crossing| {
            let movers = crossings.movers(crossing as usize);
            let is_free = movers.iter().all(|&row| last[row as usize] != number);
            if is_free {
                movers.iter().for_each(|&row| last[row as usize] = number);
            }
            is_free
        });
        colours.push(now);
        left = later;
    }
    colours
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use kalah_core::game::Rules;
    use kalah_core::index::RowIndex;
    use kalah_tables::rows::{Moves, RowMaps};

    #[test]
    fn each_crossing_has_one_colour_and_each_row_every_colour_at_most_once() {
        for (pits, seeds) in [(6, 12), (8, 7), (3, 15), (2, 20), (1, 9)] {
            let maps = RowMaps::new(Arc::new(RowIndex::new(pits, seeds).unwrap()));
            let rows = maps.rows().rows(seeds);
            let crossings = Crossings::new(rows, &Moves::new(Rules::SKalaha, &maps, seeds));
            let colours = edge_colouring(&crossings, rows);
            let mut all: Vec<u32> = colours.concat();
            all.sort_unstable();
            assert!(all.iter().copied().eq(0..crossings.all().len() as u32), "{pits} pits");
            for colour in &colours {
                assert!(!colour.is_empty() && colour.is_sorted());
                let mut raised: Vec<u32> =
                    colour.iter().flat_map(|&crossing| crossings.movers(crossing as usize)).copied().collect();
                raised.sort_unstable();
                assert!(raised.windows(2).all(|two| two[0] < two[1]), "{pits} pits: a row twice in a colour");
            }
        }
    }
}
