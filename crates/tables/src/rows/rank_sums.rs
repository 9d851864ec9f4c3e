use std::ops::{Add, AddAssign};

use kalah_core::index::{MAX_TABLE_PITS, RowIndex};

/// Offsets of the seeds of some pits of a row in the four tables of [`RankSums`].
///
/// Offsets add up: those of different pits, and those of seeds added to a pit. A row has the sum of
/// the offsets of its seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankOffsets(
    /// From the low bits up: 20 bits for the first table, 14 for that of five pits, 13 for that of
    /// four, 17 for that of three. For all seed counts of tables, no sum over a row overflows its
    /// bits.
    u64,
);

/// The lowest bits of the offsets.
const FIVE: u32 = 20;
const FOUR: u32 = 34;
const THREE: u32 = 47;

impl RankOffsets {
    fn new(first: usize, five: usize, four: usize, three: usize) -> RankOffsets {
        RankOffsets(first as u64 | (five as u64) << FIVE | (four as u64) << FOUR | (three as u64) << THREE)
    }

    #[inline(always)]
    fn bits(self, low: u32, end: u32) -> usize {
        (self.0 >> low & ((1 << (end - low)) - 1)) as usize
    }

    #[inline(always)]
    fn first(self) -> usize {
        self.bits(0, FIVE)
    }

    #[inline(always)]
    fn five(self) -> usize {
        self.bits(FIVE, FOUR)
    }

    #[inline(always)]
    fn four(self) -> usize {
        self.bits(FOUR, THREE)
    }

    #[inline(always)]
    fn three(self) -> usize {
        (self.0 >> THREE) as usize
    }

    /// Adds the offsets `seed` `seeds` times, modulo 2^64. A negative number subtracts.
    #[inline(always)]
    pub(super) fn add_seeds(&mut self, seed: RankOffsets, seeds: u64) {
        self.0 = self.0.wrapping_add(seed.0.wrapping_mul(seeds));
    }

    /// The larger of each pair of offsets.
    #[must_use]
    fn max(self, other: RankOffsets) -> RankOffsets {
        RankOffsets::new(
            self.first().max(other.first()),
            self.five().max(other.five()),
            self.four().max(other.four()),
            self.three().max(other.three()),
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

/// Offsets of some rows, or of the same pits of some rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OffsetList {
    offsets: Vec<RankOffsets>,
    /// Largest offset of all elements in each table.
    most: RankOffsets,
}

impl OffsetList {
    /// The offsets in list order.
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

/// Ranks as sums of table entries, whose offsets are sums over the pits of a row.
///
/// [`RowIndex::rank`] is a sum of counts. Each depends on the seeds and the potential of the last
/// pits of the row. Here they are combined into at most four numbers: one for the whole row and its
/// first pits, and one each for the last five, four and three pits. The number for five pits exists
/// only for rows of more than six. Adding the same seeds to all rows of a set therefore moves all
/// their lookups by the same distances.
#[derive(Debug)]
pub struct RankSums {
    /// Offsets of a seed in each pit.
    weights: [RankOffsets; MAX_TABLE_PITS],
    /// By seeds of the row: where its part of `first` begins; and where the last part ends.
    starts: Vec<usize>,
    /// By seeds of the row, then by the potential and the [leading] pits.
    first: Vec<u32>,
    /// By seeds and potential of the last five pits; empty where the first tables cover them.
    five: Vec<u32>,
    /// By seeds and potential of the last four pits.
    four: Vec<u32>,
    /// By each of the last three pits.
    three: Vec<u32>,
}

/// Number of pits that the first tables distinguish, besides the potential.
fn leading(pits: usize) -> usize {
    match pits {
        0..=5 => 0,
        6 | 7 => 1,
        _ => pits - 6,
    }
}

impl RankSums {
    /// Makes the tables for all rows that `rows` ranks.
    pub(crate) fn new(rows: &RowIndex) -> RankSums {
        let (pits, most) = (rows.pits(), rows.max_seeds());
        let places = most + 1;
        // Number of potentials of rows with `pits` pits.
        let potentials = |pits: usize| (pits - 1) * most + 1;
        let (leading, all) = (leading(pits), potentials(pits));
        // The first pit varies most slowly.
        let stride = |pit: usize| if pit < leading { all * places.pow((leading - 1 - pit) as u32) } else { 0 };
        // By seeds and potential of the last `rest` pits.
        let last = |rest: usize, distance: usize| if distance < rest { potentials(rest) + distance } else { 0 };
        let is_wide = pits > 6;
        let mut weights = [RankOffsets::default(); MAX_TABLE_PITS];
        for (pit, weight) in weights[..pits].iter_mut().enumerate() {
            let distance = pits - 1 - pit;
            *weight = RankOffsets::new(
                stride(pit) + distance,
                if is_wide { last(5, distance) } else { 0 },
                last(4, distance),
                if distance <= 2 { places.pow(distance as u32) } else { 0 },
            );
        }
        // The amount that `RowIndex::rank` adds, minus the amount that it subtracts, when `rest`
        // pits of the row remain, with these seeds and this potential.
        let term = |rest: usize, seeds: usize, potential: usize| {
            let count = |n: usize| if (3..=pits).contains(&n) { rows.count(n, seeds, potential) } else { 0 };
            if rest < pits { count(rest).wrapping_sub(count(rest + 1)) } else { 0 }
        };
        let first: Vec<Vec<u32>> = (0..=most)
            .map(|seeds| {
                let bounds = rows.level_bounds(seeds);
                let mut table = vec![0u32; seeds * stride(0) + bounds.len()];
                for (offset, entry) in table.iter_mut().enumerate() {
                    let potential = offset % all;
                    if potential + 1 >= bounds.len() {
                        continue;
                    }
                    let count = if pits >= 3 { rows.count(pits, seeds, potential) } else { 0 };
                    let mut sum = bounds[potential].wrapping_add(count);
                    // Remaining seeds and potential after each of the leading pits; `None` if there
                    // are no such rows.
                    let (mut left, mut offset) = (Some((seeds, potential)), offset);
                    for pit in 0..leading {
                        let held = offset / stride(pit);
                        offset %= stride(pit);
                        left = left.and_then(|(seeds, potential)| {
                            Some((seeds.checked_sub(held)?, potential.checked_sub(held * (pits - 1 - pit))?))
                        });
                        if let Some((seeds, potential)) = left {
                            sum = sum.wrapping_add(term(pits - 1 - pit, seeds, potential));
                        }
                    }
                    *entry = if left.is_some() { sum } else { 0 };
                }
                table
            })
            .collect();
        let by_potential = |rest: usize| -> Vec<u32> {
            let potentials = potentials(rest);
            (0..places * potentials).map(|offset| term(rest, offset / potentials, offset % potentials)).collect()
        };
        let three = (0..places.pow(3))
            .map(|offset| {
                let [first, second, third] = [offset / places / places, offset / places % places, offset % places];
                let seeds = first + second + third;
                if seeds > most {
                    return 0;
                }
                term(3, seeds, 2 * first + second).wrapping_add(term(2, second + third, second))
            })
            .collect();
        let five = if is_wide { by_potential(5) } else { Vec::new() };
        let starts = first.iter().scan(0, |end, part| Some(std::mem::replace(end, *end + part.len())));
        let starts = starts.chain([first.iter().map(Vec::len).sum()]).collect();
        RankSums { weights, starts, first: first.concat(), five, four: by_potential(4), three }
    }

    /// Offsets of one seed in `pit` (from 0).
    #[inline]
    pub(crate) fn seed(&self, pit: usize) -> RankOffsets {
        self.weights[pit]
    }

    /// Offsets of a row with these seeds in its pits, the first pit in the lowest byte.
    #[inline]
    pub fn offsets(&self, row: u64) -> RankOffsets {
        let seeds = self.weights.iter().enumerate().map(|(pit, weight)| (row >> (8 * pit) & 0xff) * weight.0);
        RankOffsets(seeds.sum())
    }

    /// Ranks of all rows with `seeds` seeds that contain the seeds of `fixed`.
    ///
    /// # Panics
    /// When `seeds` is more than the tables cover.
    #[inline(always)]
    pub fn from(&self, seeds: usize, fixed: RankOffsets) -> RanksFrom<'_> {
        RanksFrom { sums: self, first: &self.first[self.starts[seeds]..self.starts[seeds + 1]], fixed }
    }
}

/// Ranks of rows that have some seeds in common.
#[derive(Clone, Copy, Debug)]
pub struct RanksFrom<'a> {
    sums: &'a RankSums,
    /// The first table of rows with this number of seeds.
    first: &'a [u32],
    /// The seeds in common.
    fixed: RankOffsets,
}

impl RanksFrom<'_> {
    /// Rank of the row that has these seeds in addition.
    ///
    /// # Panics
    /// Possibly, if their number is not the number that the rows lack.
    #[inline(always)]
    pub fn rank(&self, rest: RankOffsets) -> u32 {
        let RankSums { five, four, three, .. } = self.sums;
        let row = self.fixed + rest;
        let five = if five.is_empty() { 0 } else { five[row.five()] };
        self.first[row.first()].wrapping_add(four[row.four()]).wrapping_add(three[row.three()]).wrapping_add(five)
    }

    /// Calls `each` for each element of `list` with two ranks of the row that has these seeds in
    /// addition: the one here and the one in `other`, which is of the same board.
    ///
    /// # Panics
    /// Possibly, if an element does not have the number of seeds that the rows lack.
    #[inline(always)]
    pub fn each_of_both(self, other: RanksFrom<'_>, list: &OffsetList, mut each: impl FnMut(u32, u32)) {
        assert!(self.contains(list.most) && other.contains(list.most), "too many seeds in addition");
        let (ours, others) = (self.places(), other.places());
        // Two loops, so that boards with few pits do not pay for the table of five pits.
        if self.sums.five.is_empty() && other.sums.five.is_empty() {
            for &rest in &list.offsets {
                // SAFETY: no offset of the list is beyond `most`, for which both have been checked.
                unsafe { each(ours.rank_of_few(rest), others.rank_of_few(rest)) }
            }
        } else {
            for &rest in &list.offsets {
                // SAFETY: as above.
                unsafe { each(ours.rank(rest), others.rank(rest)) }
            }
        }
    }

    /// Parts of the tables that rows with the fixed seeds can need.
    #[inline(always)]
    fn places(&self) -> Places<'_> {
        let RanksFrom { sums, first, fixed } = self;
        Places {
            first: &first[fixed.first()..],
            five: if sums.five.is_empty() { &[] } else { &sums.five[fixed.five()..] },
            four: &sums.four[fixed.four()..],
            three: &sums.three[fixed.three()..],
        }
    }

    /// Returns true if these offsets, and all smaller ones, are within the tables.
    #[inline(always)]
    fn contains(&self, rest: RankOffsets) -> bool {
        let RanksFrom { sums, first, fixed } = self;
        // Added one by one, since a sum that is too large must not carry to the next one.
        fixed.first() + rest.first() < first.len()
            && (sums.five.is_empty() || fixed.five() + rest.five() < sums.five.len())
            && fixed.four() + rest.four() < sums.four.len()
            && fixed.three() + rest.three() < sums.three.len()
    }
}

/// The four tables from the offsets of some seeds on.
#[derive(Clone, Copy)]
struct Places<'a> {
    first: &'a [u32],
    /// Empty for rows of up to six pits.
    five: &'a [u32],
    four: &'a [u32],
    three: &'a [u32],
}

impl Places<'_> {
    /// Rank of the row that has these seeds in addition.
    ///
    /// # Safety
    /// The offsets must be within the tables.
    #[inline(always)]
    unsafe fn rank(&self, rest: RankOffsets) -> u32 {
        // SAFETY: the caller guarantees it.
        unsafe {
            let five = if self.five.is_empty() { 0 } else { *self.five.get_unchecked(rest.five()) };
            self.rank_of_few(rest).wrapping_add(five)
        }
    }

    /// The same for rows of up to six pits.
    ///
    /// # Safety
    /// As for [`Places::rank`].
    #[inline(always)]
    unsafe fn rank_of_few(&self, rest: RankOffsets) -> u32 {
        // SAFETY: the caller guarantees it.
        unsafe {
            let first = *self.first.get_unchecked(rest.first());
            let four = *self.four.get_unchecked(rest.four());
            first.wrapping_add(four).wrapping_add(*self.three.get_unchecked(rest.three()))
        }
    }
}
