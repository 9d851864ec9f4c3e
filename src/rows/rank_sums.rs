use std::fmt;
use std::ops::{Add, AddAssign};

use crate::index::RowIndex;

/// Where the seeds of some pits of a row stand in the three tables of [`RankSums`].
///
/// Offsets of different pits, and of seeds that are added to a pit, add up: a row has the sum of the offsets of its seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankOffsets(
    /// From the low bits up: 16 bits for the first table, 16 for the second, 32 for the third. No sum over a row overflows its
    /// bits.
    u64,
);

impl RankOffsets {
    fn new(first: usize, middle: usize, last: usize) -> RankOffsets {
        RankOffsets(first as u64 | (middle as u64) << 16 | (last as u64) << 32)
    }

    #[inline(always)]
    fn first(self) -> usize {
        usize::from(self.0 as u16)
    }

    #[inline(always)]
    fn middle(self) -> usize {
        usize::from((self.0 >> 16) as u16)
    }

    #[inline(always)]
    fn last(self) -> usize {
        (self.0 >> 32) as usize
    }

    /// The larger one of each of the three offsets.
    #[must_use]
    fn max(self, other: RankOffsets) -> RankOffsets {
        RankOffsets::new(
            self.first().max(other.first()),
            self.middle().max(other.middle()),
            self.last().max(other.last()),
        )
    }
}

impl Add for RankOffsets {
    type Output = RankOffsets;

    #[inline(always)]
    fn add(self, other: RankOffsets) -> RankOffsets {
        RankOffsets(self.0 + other.0)
    }
}

impl AddAssign for RankOffsets {
    #[inline(always)]
    fn add_assign(&mut self, other: RankOffsets) {
        *self = *self + other;
    }
}

/// The offsets of some rows, or of the same pits of some rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OffsetList {
    offsets: Vec<RankOffsets>,
    /// The largest offset of any of them in each table.
    most: RankOffsets,
}

impl OffsetList {
    /// The offsets, in the order of the list.
    #[inline]
    pub fn offsets(&self) -> &[RankOffsets] {
        &self.offsets
    }
}

impl FromIterator<RankOffsets> for OffsetList {
    fn from_iter<I: IntoIterator<Item = RankOffsets>>(offsets: I) -> OffsetList {
        let offsets: Vec<RankOffsets> = offsets.into_iter().collect();
        let most = offsets.iter().fold(RankOffsets::default(), |most, &offsets| most.max(offsets));
        OffsetList { offsets, most }
    }
}

/// Ranks as sums of three table entries, whose offsets are sums over the pits of a row.
///
/// [`RowIndex::rank`] is a sum of counts, each of which depends on the seeds and the potential of the last pits of the row.
/// They are added up here to one number for the whole row and its first pit, one for the last four pits, and one for the last
/// three. So when the same seeds are added to all rows of a set, their ranks are found at places that move by the same three
/// distances.
pub struct RankSums {
    /// The offsets of a seed in each pit.
    weights: [RankOffsets; RankSums::MOST_PITS],
    /// By seeds of the row: by the potential and, with six pits, the first pit.
    first: Vec<Vec<u32>>,
    /// By seeds and potential of the last four pits.
    middle: Vec<u32>,
    /// By each of the last three pits.
    last: Vec<u32>,
}

impl RankSums {
    /// The most pits of rows. The ranks of longer ones would be sums of more numbers.
    pub const MOST_PITS: usize = 6;

    /// The tables for all rows that `rows` ranks.
    ///
    /// # Panics
    /// When these have more than [`RankSums::MOST_PITS`] pits.
    pub fn new(rows: &RowIndex) -> RankSums {
        let (pits, most) = (rows.pits(), rows.max_seeds());
        assert!(pits <= RankSums::MOST_PITS, "{pits} pits");
        let (potentials, middle_potentials, places) = (5 * most + 1, 3 * most + 1, most + 1);
        let mut weights = [RankOffsets::default(); RankSums::MOST_PITS];
        for (pit, weight) in weights[..pits].iter_mut().enumerate() {
            let distance = pits - 1 - pit;
            *weight = RankOffsets::new(
                if distance == 5 { potentials + distance } else { distance },
                if distance <= 3 { middle_potentials + distance } else { 0 },
                if distance <= 2 { places.pow(distance as u32) } else { 0 },
            );
        }
        // What `RowIndex::rank` adds, less what it subtracts, when `rest` pits of the row remain, with these seeds and this
        // potential.
        let term = |rest: usize, seeds: usize, potential: usize| {
            let count = |n: usize| if (3..=pits).contains(&n) { rows.count(n, seeds, potential) } else { 0 };
            if rest < pits { count(rest).wrapping_sub(count(rest + 1)) } else { 0 }
        };
        let first = (0..=most)
            .map(|seeds| {
                let bounds = rows.level_bounds(seeds);
                let mut table = vec![0u32; if pits == 6 { seeds * potentials } else { 0 } + bounds.len()];
                for (offset, entry) in table.iter_mut().enumerate() {
                    let (pit, potential) = (offset / potentials, offset % potentials);
                    if potential + 1 < bounds.len() && 5 * pit <= potential {
                        let count = if pits >= 3 { rows.count(pits, seeds, potential) } else { 0 };
                        let rest = term(5, seeds - pit, potential - 5 * pit);
                        *entry = bounds[potential].wrapping_add(count).wrapping_add(rest);
                    }
                }
                table
            })
            .collect();
        let middle = (0..places * middle_potentials)
            .map(|offset| term(4, offset / middle_potentials, offset % middle_potentials))
            .collect();
        let last = (0..places.pow(3))
            .map(|offset| {
                let [first, second, third] = [offset / places / places, offset / places % places, offset % places];
                let seeds = first + second + third;
                if seeds > most {
                    return 0;
                }
                term(3, seeds, 2 * first + second).wrapping_add(term(2, second + third, second))
            })
            .collect();
        RankSums { weights, first, middle, last }
    }

    /// The offsets of one seed in `pit` (from 0).
    #[inline]
    pub fn seed(&self, pit: usize) -> RankOffsets {
        self.weights[pit]
    }

    /// The offsets of a row with these seeds in its pits, the first pit in the lowest byte.
    #[inline]
    pub fn offsets(&self, row: u64) -> RankOffsets {
        let seeds = self.weights.iter().enumerate().map(|(pit, weight)| (row >> (8 * pit) & 0xff) * weight.0);
        RankOffsets(seeds.sum())
    }

    /// The ranks of all rows with `seeds` seeds that have the seeds of `fixed`, and more.
    ///
    /// # Panics
    /// When no row with so many seeds has those of `fixed`.
    #[inline]
    pub fn from(&self, seeds: usize, fixed: RankOffsets) -> RanksFrom<'_> {
        RanksFrom {
            first: &self.first[seeds][fixed.first()..],
            middle: &self.middle[fixed.middle()..],
            last: &self.last[fixed.last()..],
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

impl<'a> RanksFrom<'a> {
    /// The rank of the row that has these seeds in addition.
    ///
    /// # Panics
    /// Possibly, if these are not as many seeds as the rows lack.
    #[inline]
    pub fn rank(&self, rest: RankOffsets) -> u32 {
        self.first[rest.first()].wrapping_add(self.middle[rest.middle()]).wrapping_add(self.last[rest.last()])
    }

    /// For each element of `list`, the rank of the row that has these seeds in addition, here and in `other`.
    ///
    /// # Panics
    /// Possibly, if an element has not as many seeds as the rows lack.
    #[inline(always)]
    pub fn both(self, other: RanksFrom<'a>, list: &'a OffsetList) -> impl Iterator<Item = (u32, u32)> + 'a {
        for ranks in [&self, &other] {
            let most = list.most;
            assert!(
                most.first() < ranks.first.len()
                    && most.middle() < ranks.middle.len()
                    && most.last() < ranks.last.len(),
                "too many seeds in addition"
            );
        }
        list.offsets.iter().map(move |&rest| {
            // SAFETY: no offset of the list is beyond `most`, for which both have been checked.
            unsafe { (self.rank_unchecked(rest), other.rank_unchecked(rest)) }
        })
    }

    /// [`RanksFrom::rank`] without checks.
    ///
    /// # Safety
    /// The three offsets must be within the three tables.
    #[inline(always)]
    unsafe fn rank_unchecked(&self, rest: RankOffsets) -> u32 {
        // SAFETY: the caller makes sure of it.
        unsafe {
            let first = *self.first.get_unchecked(rest.first());
            let middle = *self.middle.get_unchecked(rest.middle());
            first.wrapping_add(middle).wrapping_add(*self.last.get_unchecked(rest.last()))
        }
    }
}
