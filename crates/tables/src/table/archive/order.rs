use std::ops::Range;

use kalah_core::index::{Frame, RowIndex};
use rayon::prelude::*;

/// Number of parents of a row that predictions use.
pub(super) const PARENTS: usize = 3;

const NONE: u32 = u32::MAX;

/// The rows with one number of seeds in lexicographic order, first pit first, and the parents of
/// each.
///
/// The parents of a row are the rows with one of its seeds moved to the last pit. The seed comes
/// first from the last non-empty pit before that one, then from the non-empty pit before, and so
/// on. Parents come before the row in this order and differ from it by one seed. The first parent
/// is usually the row just before.
pub(super) struct RowOrder {
    /// Ranks of the rows, in this order.
    ranks: Vec<u32>,
    /// Places of the parents in this order, or [`NONE`].
    parents: Vec<[u32; PARENTS]>,
}

impl RowOrder {
    /// Makes the order of the rows with `seeds` seeds.
    pub(super) fn new(index: &RowIndex, seeds: usize) -> RowOrder {
        let mut rows: Vec<_> =
            (0..index.rows(seeds) as u32).into_par_iter().map(|rank| (index.unrank(seeds, rank), rank)).collect();
        rows.par_sort_unstable();
        let mut places = vec![0; rows.len()];
        for (place, &(_, rank)) in rows.iter().enumerate() {
            places[rank as usize] = place as u32;
        }
        let last = index.pits() - 1;
        let parents = rows
            .par_iter()
            .map(|(row, _)| {
                let mut parents = [NONE; PARENTS];
                let filled = (0..last).rev().filter(|&pit| row[pit] > 0);
                for (parent, pit) in parents.iter_mut().zip(filled) {
                    let mut moved = *row;
                    moved[pit] -= 1;
                    moved[last] += 1;
                    *parent = places[index.rank(&moved) as usize];
                }
                parents
            })
            .collect();
        RowOrder { ranks: rows.iter().map(|&(_, rank)| rank).collect(), parents }
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.ranks.len()
    }

    /// Ranks of the rows, in this order.
    pub(super) fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// Parents of the rows in `part`, numbered from its start, when only that part is available.
    ///
    /// A parent that is missing or lies before the part is replaced by the previous parent, the
    /// first one by the row just before. Those of the part's first row are meaningless.
    pub(super) fn parents(&self, part: Range<usize>) -> Vec<[u32; PARENTS]> {
        let start = part.start as u32;
        let known = self.parents[part].iter().enumerate().map(|(place, parents)| {
            let mut before = (place as u32).saturating_sub(1);
            parents.map(|parent| {
                if parent != NONE && parent >= start {
                    before = parent - start;
                }
                before
            })
        });
        known.collect()
    }
}

/// The division of a frame into chunks: each part of the other rows with each part of the mover's
/// rows.
pub(super) struct Grid {
    others: Division,
    movers: Division,
}

/// A division of rows into parts as equal as possible.
struct Division {
    rows: usize,
    parts: usize,
}

impl Division {
    /// Part `number`.
    fn part(&self, number: usize) -> Range<usize> {
        number * self.rows / self.parts..(number + 1) * self.rows / self.parts
    }
}

impl Grid {
    /// Divides a frame into chunks of at most `side` x `side` positions: squares, or, if one
    /// dimension is shorter, all of it and more of the other.
    pub(super) fn new(frame: Frame, side: usize) -> Grid {
        let (others, movers) = (frame.mirrored().mover_rows(), frame.mover_rows());
        let height = others.min(side.max(side * side / movers));
        let width = movers.min(side.max(side * side / height));
        let division = |rows: usize, most: usize| Division { rows, parts: rows.div_ceil(most) };
        Grid { others: division(others, height), movers: division(movers, width) }
    }

    /// Number of chunks.
    pub(super) fn chunks(&self) -> usize {
        self.others.parts * self.movers.parts
    }

    /// Places of a chunk's other rows and of its mover's rows.
    pub(super) fn chunk(&self, number: usize) -> (Range<usize>, Range<usize>) {
        (self.others.part(number / self.movers.parts), self.movers.part(number % self.movers.parts))
    }

    /// Number of positions in a chunk.
    pub(super) fn positions(&self, number: usize) -> usize {
        let (others, movers) = self.chunk(number);
        others.len() * movers.len()
    }

    /// Upper bound of the positions in a chunk.
    pub(super) fn most_positions(&self) -> usize {
        self.others.rows.div_ceil(self.others.parts) * self.movers.rows.div_ceil(self.movers.parts)
    }

    /// Chunks that contain an other row, and the number of the row in their part.
    pub(super) fn run(&self, place: usize) -> (Range<usize>, usize) {
        let Division { rows, parts } = self.others;
        // The last part that does not start after the place.
        let number = ((place + 1) * parts - 1) / rows;
        (number * self.movers.parts..(number + 1) * self.movers.parts, place - self.others.part(number).start)
    }
}
