use std::collections::BTreeMap;
use std::fmt;

use kalah_core::game::{Bounds, Position};
use kalah_solve::bounds::{ClaimKeys, CodedClaim};

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

/// Error of adding a claim.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimError {
    /// The position has no key: it belongs to another board, or has too many seeds.
    #[error("{0} is not a position of the board, or has too many seeds for a certificate")]
    Position(Box<Position>),
    /// The game is over in the position.
    #[error("{0}: a row is empty, so its score needs no claim")]
    Over(Box<Position>),
    /// The bounds are outside 0 to the seeds in play, or contradict those claimed already.
    #[error("{position}: the score cannot be {} to {}", bounds.lower, bounds.upper)]
    Bounds {
        /// The position.
        position: Box<Position>,
        /// The bounds of both claims together.
        bounds: Bounds,
    },
}

/// Claims about positions of one board, sorted by seeds in play and [rank](ClaimKeys), with each position once.
///
/// Stores do not matter: positions that differ only in them are the same.
#[derive(Clone, Debug)]
pub struct ClaimSet {
    keys: ClaimKeys,
    /// The lower and the upper bound by key.
    claims: BTreeMap<u128, [u8; 2]>,
}

impl ClaimSet {
    /// An empty set for boards with `pits` pits a side. It stays empty if no board has this many.
    pub fn new(pits: usize) -> ClaimSet {
        ClaimSet { keys: ClaimKeys::new(pits), claims: BTreeMap::new() }
    }

    /// A set of claims that are sorted by key, each position once.
    pub(super) fn of_sorted(keys: ClaimKeys, claims: Vec<CodedClaim>) -> ClaimSet {
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

    /// The bounds claimed for a position.
    pub fn get(&self, position: &Position) -> Option<Bounds> {
        self.claims.get(&self.keys.key(position)?).map(|&bounds| decoded(bounds))
    }

    /// Adds bounds of the score of a position. If it has a claim, the tighter bounds of both remain. Trivial
    /// bounds add nothing.
    ///
    /// # Errors
    /// If the position has no key or is over, or the bounds are impossible. The claims stay unchanged then.
    pub fn add(&mut self, position: &Position, bounds: Bounds) -> Result<(), ClaimError> {
        let key = self.keys.key(position).ok_or_else(|| ClaimError::Position(Box::new(*position)))?;
        if position.is_over() {
            return Err(ClaimError::Over(Box::new(*position)));
        }
        let known = self.claims.get(&key).map_or(Bounds { lower: 0, upper: position.seeds() }, |&known| decoded(known));
        let both = Bounds { lower: bounds.lower.max(known.lower), upper: bounds.upper.min(known.upper) };
        if both.lower > both.upper {
            return Err(ClaimError::Bounds { position: Box::new(*position), bounds: both });
        }
        if (both.lower, both.upper) != (0, position.seeds()) {
            self.claims.insert(key, [both.lower as u8, both.upper as u8]);
        }
        Ok(())
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
    pub(super) fn coded(&self) -> impl Iterator<Item = CodedClaim> + '_ {
        self.claims.iter().map(|(&key, &bounds)| (key, bounds))
    }
}

fn decoded([lower, upper]: [u8; 2]) -> Bounds {
    Bounds { lower: lower.into(), upper: upper.into() }
}
