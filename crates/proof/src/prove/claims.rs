use std::io;
use std::ops::RangeInclusive;

use kalah_core::game::{Bounds, MAX_PITS, Position, Row};
use kalah_solve::blocks::{compressed, take};
use kalah_solve::bounds::{Claim, ClaimKeys, CodedClaim};
use rayon::prelude::*;

use super::store::Store;
use super::test::Test;

/// The rows of a position, one byte a pit, the mover's first. Bytes after the last pit are 0.
type Key = [u8; 2 * MAX_PITS];

/// Bytes of an entry after its key: both bounds and the flags.
const REST: usize = 3;

/// Flag: the lower bound follows from a re-search.
const SEARCHED_LOWER: u8 = 1;

/// Flag: the upper bound follows from a re-search.
const SEARCHED_UPPER: u8 = 2;

/// Flag: the claim was added or changed since the last [`Claims::take_new`].
const NEW: u8 = 4;

/// Flag of every entry in memory.
const USED: u8 = 8;

/// Claims that are sorted at a time, if there are many: this part of all.
const SORTED_PART: usize = 16;
/// Claims that may always be sorted at once.
const LEAST_SORTED: u64 = 1 << 16;

/// Proved bounds of the score of a position, with the way in which each follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Claimed {
    lower: u8,
    upper: u8,
    /// [`SEARCHED_LOWER`] and [`SEARCHED_UPPER`] for bounds that follow from a re-search. Without its flag, a bound
    /// follows in one ply from other claims.
    flags: u8,
}

/// Claims in memory: bounds that a search can prove again, or that follow in one ply from other claims.
///
/// A claim takes 2m + 3 bytes on a board with m pits a side, and half as many are free.
#[derive(Clone, Debug)]
pub struct Claims {
    pits: usize,
    store: Store,
}

/// Claims as the file of a job has them.
#[derive(Debug)]
pub(super) struct JobClaims {
    /// Number of positions.
    pub(super) positions: usize,
    /// Number of claims of each part of the file: bounds that follow from a re-search, and all others.
    pub(super) parts: [u64; 2],
    /// The blocks of both parts, each behind their list.
    pub(super) bytes: Vec<u8>,
}

impl Claims {
    /// An empty set, for positions with `pits` pits a side.
    pub fn new(pits: usize) -> Claims {
        Claims { pits, store: Store::new(2 * pits, 2 * pits + REST) }
    }

    /// Number of claimed positions.
    pub(crate) fn len(&self) -> usize {
        self.store.len()
    }

    /// Returns true if there are no claims.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The claimed bounds of a position, whose stores do not matter.
    pub(crate) fn get(&self, position: &Position) -> Option<Bounds> {
        self.claimed(position).map(Claimed::bounds)
    }

    fn claimed(&self, position: &Position) -> Option<Claimed> {
        self.store.get(&key(position)[..2 * self.pits]).map(Claimed::of)
    }

    /// The claimed answer of a test, and true if it follows from a re-search.
    pub(super) fn answer(&self, test: &Test) -> Option<(bool, bool)> {
        let claimed = self.claimed(&test.position)?;
        let answer = test.decided_by(claimed.bounds())?;
        Some((answer, claimed.flags & if answer { SEARCHED_LOWER } else { SEARCHED_UPPER } > 0))
    }

    /// Returns true if a test is claimed to have this answer, whatever else is claimed of its position.
    pub(super) fn gives(&self, test: &Test, answer: bool) -> bool {
        self.get(&test.position).is_some_and(|Bounds { lower, upper }| match answer {
            true => lower >= test.score,
            false => upper < test.score,
        })
    }

    /// The claims as tests with their answers, and true if the answer follows from a re-search. Trivial bounds
    /// are left out.
    pub(super) fn answers(&self) -> impl Iterator<Item = (Test, bool, bool)> + '_ {
        self.store.parts().into_iter().flatten().flat_map(|entry| {
            let (key, rest) = entry.split_at(2 * self.pits);
            let (position, claimed) = (position(key), Claimed::of(rest));
            let Bounds { lower, upper } = claimed.bounds();
            let searched = |flag| claimed.flags & flag > 0;
            let reached = (lower > 0).then(|| (Test::new(&position, lower), true, searched(SEARCHED_LOWER)));
            let held =
                (upper < position.seeds()).then(|| (Test::new(&position, upper + 1), false, searched(SEARCHED_UPPER)));
            reached.into_iter().chain(held)
        })
    }

    /// Claims the answer of a test, which follows from a re-search or in one ply. A tighter claim stays.
    pub(super) fn add(&mut self, test: &Test, answer: bool, searched: bool) {
        let Bounds { lower, upper } = test.bounds(answer);
        let flags = if searched { SEARCHED_LOWER | SEARCHED_UPPER } else { 0 };
        let claimed = Claimed { lower: lower as u8, upper: upper as u8, flags: flags | NEW };
        self.merge(&key(&test.position)[..2 * self.pits], claimed, test.position.seeds() as u8);
    }

    /// Compresses the claims with [additions](Claims::add) since the last call for the file of a job.
    ///
    /// # Errors
    /// If compression fails.
    pub(super) fn take_new(&mut self) -> io::Result<JobClaims> {
        let is_new = |entry: &&[u8]| entry[2 * self.pits + REST - 1] & NEW > 0;
        let positions = self.store.parts().into_iter().flatten().filter(is_new).count();
        let mut job = JobClaims { positions, parts: [0; 2], bytes: Vec::new() };
        for (count, searched) in job.parts.iter_mut().zip([true, false]) {
            let (number, claims) = self.ordered(|seeds, claimed| {
                let Claimed { lower, upper, flags } = claimed;
                let is_part = |flag| (flags & flag > 0) == searched;
                let bounds = [
                    if is_part(SEARCHED_LOWER) { lower } else { 0 },
                    if is_part(SEARCHED_UPPER) { upper } else { seeds },
                ];
                (flags & NEW > 0).then_some(bounds)
            });
            *count = number;
            let (list, blocks) = compressed(claims)?;
            job.bytes.extend(list);
            job.bytes.extend(blocks.concat());
        }
        self.store.entries_mut().for_each(|entry| entry[2 * self.pits + REST - 1] &= !NEW);
        Ok(job)
    }

    fn merge(&mut self, key: &[u8], new: Claimed, seeds: u8) {
        let rest = self.store.get_or_add(key, &[0, seeds, USED]);
        let mut kept = Claimed::of(rest);
        if new.lower > kept.lower {
            kept.lower = new.lower;
            kept.flags = kept.flags & !SEARCHED_LOWER | new.flags & SEARCHED_LOWER;
        }
        if new.upper < kept.upper {
            kept.upper = new.upper;
            kept.flags = kept.flags & !SEARCHED_UPPER | new.flags & SEARCHED_UPPER;
        }
        rest.copy_from_slice(&[kept.lower, kept.upper, kept.flags | new.flags & NEW]);
    }

    /// Removes the claim that answers a test, if there is one.
    pub(super) fn remove(&mut self, test: &Test) {
        let Some((answer, _)) = self.answer(test) else { return };
        let rest = self.store.get_or_add(&key(&test.position)[..2 * self.pits], &[0, 0, USED]);
        if answer {
            rest[0] = 0;
        } else {
            rest[1] = test.position.seeds() as u8;
        }
    }

    /// Adds all claims of `others`. The tighter bounds of a position stay.
    pub(crate) fn extend(&mut self, others: Claims) {
        if self.is_empty() {
            *self = others;
            return;
        }
        for entry in others.store.parts().into_iter().flatten() {
            let (key, rest) = entry.split_at(2 * self.pits);
            self.merge(key, Claimed::of(rest), sum(key));
        }
    }

    /// The claims, in no order, in parts that have about equally many.
    pub(super) fn parts(&self) -> Vec<impl Iterator<Item = Claim>> {
        let claim = |entry: &[u8]| {
            let (key, rest) = entry.split_at(2 * self.pits);
            Claim { position: position(key), bounds: Claimed::of(rest).bounds() }
        };
        self.store.parts().into_iter().map(|part| part.map(claim)).collect()
    }

    /// Number of claims that are not trivial, and these claims in the order of a certificate: [key](ClaimKeys), lower
    /// and upper bound.
    pub(super) fn in_order(&self) -> (u64, impl Iterator<Item = CodedClaim>) {
        self.ordered(|_, claimed| Some([claimed.lower, claimed.upper]))
    }

    /// Number of claims with the bounds that `bounds` returns of the seeds in play and a claim, and these claims in the
    /// order of a certificate. Trivial ones are left out.
    ///
    /// Only claims about some numbers of seeds in play are sorted at a time, which saves memory.
    fn ordered(
        &self,
        bounds: impl Fn(u8, Claimed) -> Option<[u8; 2]> + Sync,
    ) -> (u64, impl Iterator<Item = CodedClaim>) {
        let mut counts = [0; 256];
        for entry in self.store.parts().into_iter().flatten() {
            let (key, rest) = entry.split_at(2 * self.pits);
            let seeds = sum(key);
            let kept = bounds(seeds, Claimed::of(rest)).is_some_and(|bounds| bounds != [0, seeds]);
            counts[usize::from(seeds)] += u64::from(kept);
        }
        let count: u64 = counts.iter().sum();
        let most = (count / SORTED_PART as u64).max(LEAST_SORTED);
        let (mut ranges, mut held): (Vec<RangeInclusive<u8>>, u64) = (Vec::new(), 0);
        for (seeds, &layer) in (0..=255).zip(&counts) {
            held += layer;
            match ranges.last_mut() {
                Some(range) if held <= most => *range = *range.start()..=seeds,
                _ => {
                    ranges.push(seeds..=seeds);
                    held = layer;
                }
            }
        }
        let of_range = move |range: RangeInclusive<u8>| {
            self.sorted(|seeds, claimed| bounds(seeds, claimed).filter(|_| range.contains(&seeds)))
        };
        (count, ranges.into_iter().flat_map(of_range))
    }

    /// The claims with the bounds that `bounds` returns of the seeds in play and a claim, in the order of a
    /// certificate. Trivial ones are left out.
    fn sorted(&self, bounds: impl Fn(u8, Claimed) -> Option<[u8; 2]> + Sync) -> Vec<CodedClaim> {
        let keys = ClaimKeys::new(self.pits);
        let claim = |entry: &[u8]| {
            let (key, rest) = entry.split_at(2 * self.pits);
            let seeds = sum(key);
            let bounds = bounds(seeds, Claimed::of(rest)).filter(|&bounds| bounds != [0, seeds])?;
            // Proofs whose positions have too many seeds for keys are refused when they begin.
            Some((keys.key(&position(key)).expect("a position of the proof"), bounds))
        };
        let parts = self.store.parts().into_par_iter();
        let mut claims: Vec<_> = parts.flat_map_iter(|part| part.filter_map(claim)).collect();
        claims.par_sort_unstable();
        claims
    }

    /// Reads the claims of a job from the bytes in its file; `None` if they are invalid.
    pub(super) fn of_job(pits: usize, parts: [u64; 2], mut bytes: &[u8]) -> Option<Claims> {
        let (keys, mut claims) = (ClaimKeys::new(pits), Claims::new(pits));
        for (count, flags) in parts.into_iter().zip([SEARCHED_LOWER | SEARCHED_UPPER, 0]) {
            for (position, [lower, upper]) in take(&mut bytes, count, &keys)? {
                let position = keys.position(position)?;
                claims.merge(&key(&position)[..2 * pits], Claimed { lower, upper, flags }, position.seeds() as u8);
                claims.get(&position).filter(|bounds| bounds.lower <= bounds.upper)?;
            }
        }
        bytes.is_empty().then_some(claims)
    }
}

impl Claimed {
    /// The claim with these bytes after its key.
    fn of(rest: &[u8]) -> Claimed {
        Claimed { lower: rest[0], upper: rest[1], flags: rest[2] }
    }

    fn bounds(self) -> Bounds {
        Bounds { lower: self.lower.into(), upper: self.upper.into() }
    }
}

/// Seeds in play of a key; at most 255.
fn sum(key: &[u8]) -> u8 {
    key.iter().sum()
}

fn key(position: &Position) -> Key {
    let mut key = [0; 2 * MAX_PITS];
    let seeds = position.mover().seeds().iter().chain(position.other().seeds());
    for (place, &seeds) in key.iter_mut().zip(seeds) {
        *place = seeds as u8;
    }
    key
}

/// The position with this key, which has no bytes after the last pit.
fn position(key: &[u8]) -> Position {
    let row = |pits: &[u8]| {
        let mut seeds = [0; MAX_PITS];
        seeds.iter_mut().zip(pits).for_each(|(seeds, &pit)| *seeds = pit.into());
        Row::new(&seeds[..pits.len()]).expect("a row of a position")
    };
    let (mover, other) = key.split_at(key.len() / 2);
    Position::new(row(mover), row(other), 0, 0).expect("rows of a position")
}

#[cfg(test)]
mod tests {
    use kalah_solve::bounds::ClaimSet;

    use super::*;

    #[test]
    fn bytes_hold_the_claims_and_damage_is_found() {
        let mut claims = Claims::new(3);
        let position = |text: &str| text.parse::<Position>().unwrap();
        for (text, score, answer, searched) in [
            ("4,4,4/4,4,4", 13, true, false),
            ("4,4,4/4,4,4", 15, false, true),
            ("4,4,4/4,4,4", 11, true, true),
            ("0,1,2/3,0,1", 3, false, true),
        ] {
            claims.add(&Test::new(&position(text), score), answer, searched);
        }
        assert_eq!(claims.get(&position("4,4,4/4,4,4")), Some(Bounds { lower: 13, upper: 14 }));
        assert_eq!(claims.answer(&Test::new(&position("4,4,4/4,4,4"), 12)), Some((true, false)));
        assert_eq!(claims.answer(&Test::new(&position("4,4,4/4,4,4"), 15)), Some((false, true)));
        assert_eq!(claims.answer(&Test::new(&position("4,4,4/4,4,4"), 14)), None);
        let JobClaims { positions, parts, bytes } = claims.take_new().unwrap();
        assert_eq!((positions, parts, claims.take_new().unwrap().positions), (2, [2, 1], 0));
        let all = |claims: &Claims| {
            let answer = |text, score| claims.answer(&Test::new(&position(text), score));
            (claims.len(), [answer("4,4,4/4,4,4", 13), answer("4,4,4/4,4,4", 15), answer("0,1,2/3,0,1", 3)])
        };
        assert_eq!(Claims::of_job(3, parts, &bytes).map(|read| all(&read)), Some(all(&claims)));
        for parts in [[0, 1], [3, 1], [2, 0], [2, 2]] {
            assert!(Claims::of_job(3, parts, &bytes).is_none());
        }
        assert!(Claims::of_job(3, parts, &bytes[..bytes.len() - 1]).is_none());
        let mut others = Claims::new(3);
        others.add(&Test::new(&position("4,4,4/4,4,4"), 14), false, false);
        others.extend(claims);
        assert_eq!(others.get(&position("4,4,4/4,4,4")), Some(Bounds { lower: 13, upper: 13 }));
        others.remove(&Test::new(&position("4,4,4/4,4,4"), 14));
        assert_eq!(others.get(&position("4,4,4/4,4,4")), Some(Bounds { lower: 13, upper: 24 }));
    }

    #[test]
    fn claims_come_in_the_order_of_a_certificate_without_trivial_ones() {
        let mut random = fastrand::Rng::with_seed(41);
        for pits in [2, MAX_PITS] {
            let (mut claims, mut set) = (Claims::new(pits), ClaimSet::new(pits));
            for _ in 0..3000 {
                let mut row = || Row::new(&(0..pits).map(|_| random.u32(..3)).collect::<Vec<_>>()).unwrap();
                let position = Position::new(row(), row(), 0, 0).unwrap();
                if position.is_over() {
                    continue;
                }
                let test = Test::new(&position, random.u32(1..=position.seeds()));
                let answer = test.score <= position.seeds() / 2;
                claims.add(&test, answer, false);
                set.add(&position, test.bounds(answer)).unwrap();
                if random.u8(..) < 10 {
                    claims.remove(&test);
                    let kept = set.remove(&position).unwrap();
                    let trivial = if answer { Bounds { lower: 0, ..kept } } else { Bounds { upper: 255, ..kept } };
                    set.add(&position, trivial).unwrap();
                }
            }
            let (count, ordered) = claims.in_order();
            assert_eq!(count, set.len() as u64);
            let coded = |Claim { position, bounds }| {
                let key = set.keys().key(&position).unwrap();
                (key, [bounds.lower as u8, bounds.upper as u8])
            };
            assert!(ordered.eq(set.iter().map(coded)));
        }
    }
}
