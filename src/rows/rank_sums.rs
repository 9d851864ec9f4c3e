use std::fmt;
use std::ops::{Add, AddAssign};

use crate::index::{MAX_TABLE_PITS, RowIndex, TableRow};

/// Where the seeds of some pits of a row stand in the three tables of [`RankSums`].
///
/// Offsets of different pits, and of seeds that are added to a pit, add up: a row has the sum of the offsets of its seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankOffsets {
    first: u16,
    middle: u16,
    last: u32,
}

impl Add for RankOffsets {
    type Output = RankOffsets;

    #[inline]
    fn add(self, other: RankOffsets) -> RankOffsets {
        let RankOffsets { first, middle, last } = other;
        RankOffsets { first: self.first + first, middle: self.middle + middle, last: self.last + last }
    }
}

impl AddAssign for RankOffsets {
    #[inline]
    fn add_assign(&mut self, other: RankOffsets) {
        *self = *self + other;
    }
}

/// Ranks as sums of three table entries, whose offsets are sums over the pits of a row.
///
/// [`RowIndex::rank`] is a sum of counts, each of which depends on the seeds and the potential of the last pits of the row.
/// They are gathered here into one number for the whole row and its first pit, one for the last four pits, and one for the
/// last three. So when seeds are added to all rows of a set, the ranks of all of them are read at places that move by the
/// same three distances.
pub struct RankSums {
    weights: [RankOffsets; MAX_TABLE_PITS],
    /// By seeds of the row: by the potential and, with six pits, the first pit.
    first: Vec<Vec<u32>>,
    /// By seeds and potential of the last four pits.
    middle: Vec<u32>,
    /// By each of the last three pits.
    last: Vec<u32>,
}

impl RankSums {
    /// The tables for all rows that `rows` ranks.
    pub fn new(rows: &RowIndex) -> RankSums {
        let (pits, most) = (rows.pits(), rows.max_seeds());
        let potentials = 5 * most + 1;
        let middle_potentials = 3 * most + 1;
        let places = most + 1;
        let mut weights = [RankOffsets::default(); MAX_TABLE_PITS];
        for (pit, weight) in weights[..pits].iter_mut().enumerate() {
            let distance = pits - 1 - pit;
            weight.first = (distance + if distance == 5 { potentials } else { 0 }) as u16;
            weight.middle = if distance <= 3 { (middle_potentials + distance) as u16 } else { 0 };
            weight.last = if distance <= 2 { places.pow(distance as u32) as u32 } else { 0 };
        }
        // What RowIndex::rank adds and subtracts when it has passed all but `rest` pits of a row.
        let term = |rest: usize, seeds: usize, potential: usize| {
            let counted = |n: usize| if (3..=pits).contains(&n) { rows.count(n, seeds, potential) } else { 0 };
            if rest < pits { counted(rest).wrapping_sub(counted(rest + 1)) } else { 0 }
        };
        let first = (0..=most)
            .map(|seeds| {
                let bounds = rows.level_bounds(seeds);
                let mut table = vec![0u32; (if pits == 6 { seeds } else { 0 }) * potentials + bounds.len()];
                for (offset, entry) in table.iter_mut().enumerate() {
                    let (pit, potential) = (offset / potentials, offset % potentials);
                    if potential + 1 < bounds.len() && 5 * pit <= potential {
                        let counted = if pits >= 3 { rows.count(pits, seeds, potential) } else { 0 };
                        *entry = bounds[potential].wrapping_add(counted).wrapping_add(term(
                            5,
                            seeds - pit,
                            potential - 5 * pit,
                        ));
                    }
                }
                table
            })
            .collect();
        let middle = (0..places * middle_potentials)
            .map(|offset| term(4, offset / middle_potentials, offset % middle_potentials))
            .collect();
        let mut last = vec![0u32; places * places * places];
        for (offset, entry) in last.iter_mut().enumerate() {
            let [third, second, first] = [offset % places, offset / places % places, offset / places / places];
            if first + second + third <= most {
                *entry =
                    term(3, first + second + third, 2 * first + second).wrapping_add(term(2, second + third, second));
            }
        }
        RankSums { weights, first, middle, last }
    }

    /// The offsets of one seed in `pit` (from 0).
    #[inline]
    pub fn seed(&self, pit: usize) -> RankOffsets {
        self.weights[pit]
    }

    /// The offsets of these seeds.
    #[inline]
    pub fn offsets(&self, seeds: &TableRow) -> RankOffsets {
        let mut sum = RankOffsets::default();
        for (weight, &seeds) in self.weights.iter().zip(seeds) {
            sum.first += weight.first * u16::from(seeds);
            sum.middle += weight.middle * u16::from(seeds);
            sum.last += weight.last * u32::from(seeds);
        }
        sum
    }

    /// The ranks of all rows with `seeds` seeds to which `fixed` belongs: a row then has the sum of `fixed` and the offsets
    /// that [`RanksFrom::rank`] is asked for.
    #[inline]
    pub fn from(&self, seeds: usize, fixed: RankOffsets) -> RanksFrom<'_> {
        RanksFrom {
            first: &self.first[seeds][usize::from(fixed.first)..],
            middle: &self.middle[usize::from(fixed.middle)..],
            last: &self.last[fixed.last as usize..],
        }
    }
}

impl fmt::Debug for RankSums {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.debug_struct("RankSums").field("weights", &self.weights).finish_non_exhaustive()
    }
}

/// The ranks of rows that have some seeds in common.
#[derive(Clone, Copy, Debug)]
pub struct RanksFrom<'a> {
    first: &'a [u32],
    middle: &'a [u32],
    last: &'a [u32],
}

impl RanksFrom<'_> {
    /// The rank of the row that has these seeds in addition.
    ///
    /// # Panics
    /// Possibly, if these are not as many seeds as the rows lack.
    #[inline(always)]
    pub fn rank(&self, rest: RankOffsets) -> u32 {
        self.first[usize::from(rest.first)]
            .wrapping_add(self.middle[usize::from(rest.middle)])
            .wrapping_add(self.last[rest.last as usize])
    }
}
