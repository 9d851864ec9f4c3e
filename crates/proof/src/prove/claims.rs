use std::collections::BTreeMap;
use std::io;

use kalah_core::game::{Bounds, Position};
use kalah_solve::blocks::{compressed, take};
use kalah_solve::bounds::{Claim, ClaimKeys, CodedClaim};

use super::test::Test;

/// Flag: the lower bound follows from a re-search.
const SEARCHED_LOWER: u8 = 1;

/// Flag: the upper bound follows from a re-search.
const SEARCHED_UPPER: u8 = 2;

/// Flag: the claim was added or changed since the last [`Claims::take_new`].
const NEW: u8 = 4;

/// Proved bounds of the score of a position, with the way in which each follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Claimed {
    lower: u8,
    upper: u8,
    /// [`SEARCHED_LOWER`] and [`SEARCHED_UPPER`] for bounds that follow from a re-search, and [`NEW`]. Without its
    /// flag, a bound follows in one ply from other claims.
    flags: u8,
}

/// Claims in memory, in the order of a certificate: bounds that a search can prove again, or that follow in one ply
/// from other claims.
#[derive(Debug)]
pub(super) struct Claims {
    keys: ClaimKeys,
    claims: BTreeMap<u128, Claimed>,
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
    pub(super) fn new(pits: usize) -> Claims {
        Claims { keys: ClaimKeys::new(pits), claims: BTreeMap::new() }
    }

    /// Number of claimed positions.
    pub(super) fn len(&self) -> usize {
        self.claims.len()
    }

    /// The claimed bounds of a position, whose stores do not matter.
    pub(super) fn get(&self, position: &Position) -> Option<Bounds> {
        self.claims.get(&self.keys.key(position)?).map(|claimed| claimed.bounds())
    }

    /// The claimed answer of a test, and true if it follows from a re-search.
    pub(super) fn answer(&self, test: &Test) -> Option<(bool, bool)> {
        let claimed = self.claims.get(&self.keys.key(&test.position)?)?;
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
    pub(super) fn answers(&self) -> impl Iterator<Item = (Test, bool, bool)> {
        self.claims.iter().flat_map(|(&key, claimed)| {
            let (position, Bounds { lower, upper }) = (self.position(key), claimed.bounds());
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
        self.merge(self.key(test), Claimed { lower: lower as u8, upper: upper as u8, flags: flags | NEW });
    }

    /// Compresses the claims with [additions](Claims::add) since the last call for the file of a job.
    ///
    /// # Errors
    /// If compression fails.
    pub(super) fn take_new(&mut self) -> io::Result<JobClaims> {
        let is_new = |claimed: &Claimed| claimed.flags & NEW > 0;
        let positions = self.claims.values().filter(|claimed| is_new(claimed)).count();
        let mut job = JobClaims { positions, parts: [0; 2], bytes: Vec::new() };
        for (count, searched) in job.parts.iter_mut().zip([true, false]) {
            let claims = self.claims.iter().filter(|(_, claimed)| is_new(claimed)).filter_map(|(&key, claimed)| {
                let (is_part, trivial) = (|flag| (claimed.flags & flag > 0) == searched, trivial(key));
                let lower = if is_part(SEARCHED_LOWER) { claimed.lower } else { trivial.lower };
                let upper = if is_part(SEARCHED_UPPER) { claimed.upper } else { trivial.upper };
                coded(key, Claimed { lower, upper, ..trivial })
            });
            let (list, blocks) = compressed(claims.inspect(|_| *count += 1))?;
            job.bytes.extend(list);
            job.bytes.extend(blocks.concat());
        }
        self.claims.values_mut().for_each(|claimed| claimed.flags &= !NEW);
        Ok(job)
    }

    /// Adds a claim. The tighter bounds of its position stay.
    fn merge(&mut self, key: u128, new: Claimed) {
        let kept = self.claims.entry(key).or_insert(trivial(key));
        if new.lower > kept.lower {
            kept.lower = new.lower;
            kept.flags = kept.flags & !SEARCHED_LOWER | new.flags & SEARCHED_LOWER;
        }
        if new.upper < kept.upper {
            kept.upper = new.upper;
            kept.flags = kept.flags & !SEARCHED_UPPER | new.flags & SEARCHED_UPPER;
        }
        kept.flags |= new.flags & NEW;
    }

    /// Removes the claim that answers a test, if there is one.
    pub(super) fn remove(&mut self, test: &Test) {
        let Some((answer, _)) = self.answer(test) else { return };
        let key = self.key(test);
        if let Some(claimed) = self.claims.get_mut(&key) {
            match answer {
                true => claimed.lower = 0,
                false => claimed.upper = trivial(key).upper,
            }
        }
    }

    /// Adds all claims of `others`. The tighter bounds of a position stay.
    pub(super) fn extend(&mut self, others: Claims) {
        if self.claims.is_empty() {
            self.claims = others.claims;
            return;
        }
        others.claims.into_iter().for_each(|(key, claimed)| self.merge(key, claimed));
    }

    /// The claims that are not trivial, in the order of a certificate.
    pub(super) fn coded(&self) -> impl Iterator<Item = CodedClaim> {
        self.claims.iter().filter_map(|(&key, &claimed)| coded(key, claimed))
    }

    /// All claims, in the order of a certificate.
    pub(super) fn iter(&self) -> impl Iterator<Item = Claim> {
        self.claims.iter().map(|(&key, claimed)| Claim { position: self.position(key), bounds: claimed.bounds() })
    }

    /// Reads the claims of a job from the bytes in its file; `None` if they are invalid.
    pub(super) fn of_job(pits: usize, parts: [u64; 2], mut bytes: &[u8]) -> Option<Claims> {
        let mut claims = Claims::new(pits);
        for (count, flags) in parts.into_iter().zip([SEARCHED_LOWER | SEARCHED_UPPER, 0]) {
            for (key, [lower, upper]) in take(&mut bytes, count, &claims.keys)? {
                claims.merge(key, Claimed { lower, upper, flags });
            }
        }
        let is_possible = claims.claims.values().all(|claimed| claimed.lower <= claimed.upper);
        (bytes.is_empty() && is_possible).then_some(claims)
    }

    fn key(&self, test: &Test) -> u128 {
        // Proofs whose positions have too many seeds for keys are refused when they begin.
        self.keys.key(&test.position).expect("a position of the proof")
    }

    fn position(&self, key: u128) -> Position {
        self.keys.position(key).expect("only keys of positions are added")
    }
}

impl Claimed {
    fn bounds(self) -> Bounds {
        Bounds { lower: self.lower.into(), upper: self.upper.into() }
    }
}

/// The bounds that every position with this key's seeds in play has.
fn trivial(key: u128) -> Claimed {
    Claimed { lower: 0, upper: ClaimKeys::parts(key).0 as u8, flags: 0 }
}

/// The claim as stored; `None` if it is trivial.
fn coded(key: u128, claimed: Claimed) -> Option<CodedClaim> {
    let Claimed { lower, upper, .. } = claimed;
    ((lower, upper) != (0, trivial(key).upper)).then_some((key, [lower, upper]))
}
