//! Proved bounds of positions: the claims of books, certificates and the jobs of proofs.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use kalah_core::game::{Bounds, Position};
use kalah_core::index::{MAX_RANKED_SEEDS, sequence_position, sequence_rank, sequences};

/// A claim as stored: key, lower and upper bound.
pub type CodedClaim = (u128, [u8; 2]);

/// Maximum seeds in play of a position in a certificate.
pub const MAX_SEEDS: usize = MAX_RANKED_SEEDS;

/// Bits of a key below the seeds in play.
const RANK_BITS: u32 = 120;

/// Keys of the positions of a board, without stores. The claims of a certificate are sorted by them.
///
/// A key has the seeds in play in its 8 highest bits, and below them the [sequence rank](sequence_rank) of the
/// position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimKeys {
    pits: usize,
}

impl ClaimKeys {
    /// The keys of boards with `pits` pits a side. A board that does not exist has no keys.
    pub fn new(pits: usize) -> ClaimKeys {
        ClaimKeys { pits }
    }

    /// Pits a side.
    pub fn pits(&self) -> usize {
        self.pits
    }

    /// Number of sequences of 2m pits with `seeds` seeds. `None` if their positions have no keys: there are
    /// more than 255 seeds, or 2^120 or more sequences.
    pub fn sequences(&self, seeds: usize) -> Option<u128> {
        sequences(self.pits, seeds)
    }

    /// The key of a position, whose stores do not matter. `None` if it has none: it has another number of pits,
    /// or too many seeds ([`ClaimKeys::sequences`]).
    pub fn key(&self, position: &Position) -> Option<u128> {
        let rank = sequence_rank(position).filter(|_| position.pits() == self.pits)?;
        Some(ClaimKeys::of_rank(position.seeds() as usize, rank))
    }

    /// The key of the position with these seeds in play and this rank.
    pub(crate) fn of_rank(seeds: usize, rank: u128) -> u128 {
        (seeds as u128) << RANK_BITS | rank
    }

    /// The seeds in play and the rank of a key.
    pub fn parts(key: u128) -> (usize, u128) {
        ((key >> RANK_BITS) as usize, key & ((1 << RANK_BITS) - 1))
    }

    /// The position with this key, with empty stores; `None` if no position has it. Inverse of [`ClaimKeys::key`].
    pub fn position(&self, key: u128) -> Option<Position> {
        let (seeds, rank) = ClaimKeys::parts(key);
        sequence_position(self.pits, seeds, rank)
    }
}

/// A lower or an upper bound of a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// The mover collects at least this many of the seeds in play.
    AtLeast(u32),
    /// The mover collects at most this many of the seeds in play.
    AtMost(u32),
}

impl Bound {
    /// Returns true if `bounds` imply it.
    pub fn is_implied_by(self, bounds: Bounds) -> bool {
        match self {
            Bound::AtLeast(score) => bounds.lower >= score,
            Bound::AtMost(score) => bounds.upper <= score,
        }
    }

    /// Returns true if it holds for every position with `seeds` seeds in play.
    pub fn is_trivial(self, seeds: u32) -> bool {
        self.is_implied_by(Bounds { lower: 0, upper: seeds })
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::AtLeast(score) => write!(f, "at least {score}"),
            Bound::AtMost(score) => write!(f, "at most {score}"),
        }
    }
}

/// Proved bounds of the score of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The position, with empty stores and seeds in both rows.
    pub position: Position,
    /// The bounds, 0 to the seeds in play.
    pub bounds: Bounds,
}

impl Claim {
    /// Its bounds that are not trivial.
    pub fn parts(&self) -> impl Iterator<Item = Bound> + use<> {
        let (bounds, seeds) = (self.bounds, self.position.seeds());
        [Bound::AtLeast(bounds.lower), Bound::AtMost(bounds.upper)]
            .into_iter()
            .filter(move |bound| !bound.is_trivial(seeds))
    }
}

/// Error of a claim.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimError {
    /// The position has no key.
    #[error("nothing can be claimed of {0}: it is of another board, or has too many seeds in play")]
    Position(Box<Position>),
    /// Two bounds of the score of a position contradict each other.
    #[error(
        "its bounds of the score of {position}, {} to {}, contradict {} to {} by {by}",
        known.lower, known.upper, other.lower, other.upper
    )]
    Contradiction {
        /// The position, without stores.
        position: Box<Position>,
        /// The claimed bounds.
        known: Bounds,
        /// Bounds that contradict them.
        other: Bounds,
        /// Source of those bounds.
        by: &'static str,
    },
}

impl ClaimError {
    /// The error for claimed bounds of a position that contradict others.
    pub(crate) fn contradiction(position: &Position, known: Bounds, other: Bounds, by: &'static str) -> ClaimError {
        ClaimError::Contradiction { position: Box::new(position.without_stores()), known, other, by }
    }
}

/// Claims about positions of one board, sorted by seeds in play and [rank](ClaimKeys), with each position once.
///
/// Stores do not matter: positions that differ only in them are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimSet {
    keys: ClaimKeys,
    /// The lower and the upper bound by key.
    claims: BTreeMap<u128, [u8; 2]>,
}

fn decoded([lower, upper]: [u8; 2]) -> Bounds {
    Bounds { lower: lower.into(), upper: upper.into() }
}

impl ClaimSet {
    /// An empty set for boards with `pits` pits a side. It stays empty if no board has this many.
    pub fn new(pits: usize) -> ClaimSet {
        ClaimSet::of_sorted(ClaimKeys::new(pits), Vec::new())
    }

    /// A set of claims that are sorted by key, each position once.
    pub fn of_sorted(keys: ClaimKeys, claims: Vec<CodedClaim>) -> ClaimSet {
        ClaimSet { keys, claims: claims.into_iter().collect() }
    }

    /// The keys of positions of this board.
    pub fn keys(&self) -> &ClaimKeys {
        &self.keys
    }

    /// Number of positions with a claim.
    pub fn len(&self) -> usize {
        self.claims.len()
    }

    /// Returns true if there are no claims.
    pub fn is_empty(&self) -> bool {
        self.claims.is_empty()
    }

    /// Least and most seeds in play of its positions; `None` if it is empty.
    pub(crate) fn seeds(&self) -> Option<RangeInclusive<u32>> {
        let [least, most] = [self.claims.first_key_value()?, self.claims.last_key_value()?];
        Some(ClaimKeys::parts(*least.0).0 as u32..=ClaimKeys::parts(*most.0).0 as u32)
    }

    /// The bounds claimed for a position.
    pub fn get(&self, position: &Position) -> Option<Bounds> {
        self.claims.get(&self.keys.key(position)?).map(|&bounds| decoded(bounds))
    }

    /// Adds bounds of the score of a position. If it has a claim, the tighter bounds of both remain. Returns true if
    /// the bounds become tighter. Nothing is claimed about finished games, since the rules give their scores.
    ///
    /// # Errors
    /// If the position has no key, or the bounds are impossible. The claims stay unchanged then.
    pub fn add(&mut self, position: &Position, bounds: Bounds) -> Result<bool, ClaimError> {
        let key = self.keys.key(position).ok_or_else(|| ClaimError::Position(Box::new(position.without_stores())))?;
        let trivial = [0, position.seeds() as u8];
        let known = decoded(self.claims.get(&key).copied().unwrap_or(trivial));
        let both = Bounds { lower: bounds.lower.max(known.lower), upper: bounds.upper.min(known.upper) };
        if both.lower > both.upper {
            return Err(ClaimError::contradiction(position, known, bounds, "the added bounds"));
        }
        let is_tighter = both != known && !position.is_over();
        if is_tighter {
            self.claims.insert(key, [both.lower as u8, both.upper as u8]);
        }
        Ok(is_tighter)
    }

    /// Removes the claim of a position and returns its bounds.
    pub fn remove(&mut self, position: &Position) -> Option<Bounds> {
        self.claims.remove(&self.keys.key(position)?).map(decoded)
    }

    /// All claims in order.
    pub fn iter(&self) -> impl Iterator<Item = Claim> + '_ {
        self.coded().map(|(key, bounds)| {
            let position = self.keys.position(key).expect("only keys of positions are added");
            Claim { position, bounds: decoded(bounds) }
        })
    }

    /// All claims in order: key, lower and upper bound.
    pub fn coded(&self) -> impl Iterator<Item = CodedClaim> + '_ {
        self.claims.iter().map(|(&key, &bounds)| (key, bounds))
    }
}
