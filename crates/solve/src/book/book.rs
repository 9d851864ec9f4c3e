use std::ops::RangeInclusive;

use kalah_core::game::{Bounds, Position, Rules};

use super::error::BookError;
use crate::bounds::{ClaimKeys, CodedClaim};

/// Proved bounds of the scores of positions, for one rule set and number of pits. Most positions are near the
/// start.
///
/// Stores do not matter: bounds of a position hold whatever was stored before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Book {
    rules: Rules,
    keys: ClaimKeys,
    /// Sorted by key.
    pub(super) entries: Vec<CodedClaim>,
}

/// Seeds in play of a position with this key.
fn seeds(key: u128) -> u8 {
    ClaimKeys::parts(key).0 as u8
}

fn bounds([lower, upper]: [u8; 2]) -> Bounds {
    Bounds { lower: lower.into(), upper: upper.into() }
}

impl Book {
    /// An empty book.
    pub fn new(rules: Rules, pits: usize) -> Book {
        Book::of(rules, ClaimKeys::new(pits), Vec::new())
    }

    pub(super) fn of(rules: Rules, keys: ClaimKeys, entries: Vec<CodedClaim>) -> Book {
        Book { rules, keys, entries }
    }

    /// The rule set.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Pits a side.
    pub fn pits(&self) -> usize {
        self.keys.pits()
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if it has no position.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Number of positions with an exact score.
    pub fn exact(&self) -> usize {
        self.entries.iter().filter(|(_, [lower, upper])| lower == upper).count()
    }

    /// Least and most seeds in play of its positions; `None` if it is empty.
    pub fn seeds(&self) -> Option<RangeInclusive<u32>> {
        Some(seeds(self.entries.first()?.0).into()..=seeds(self.entries.last()?.0).into())
    }

    /// The key of a position.
    ///
    /// # Errors
    /// If a book cannot contain the position.
    fn key(&self, position: &Position) -> Result<u128, BookError> {
        self.keys.key(position).ok_or_else(|| BookError::Board(Box::new(position.without_stores())))
    }

    /// The bounds of the score of `position`; `None` if it is not in the book.
    pub fn get(&self, position: &Position) -> Option<Bounds> {
        // Most positions of a search have fewer seeds than any in the book.
        if !self.seeds()?.contains(&position.seeds()) {
            return None;
        }
        let key = self.keys.key(position)?;
        let found = self.entries.binary_search_by_key(&key, |entry| entry.0);
        Some(bounds(self.entries[found.ok()?].1))
    }

    /// Adds proved bounds of the score of `position`. Returns true if the stored bounds become narrower.
    /// Finished games are left out, since the rules give their scores.
    ///
    /// # Errors
    /// If the bounds contradict the book, or the position cannot be in it. The book stays unchanged then.
    pub fn add(&mut self, position: &Position, proved: Bounds) -> Result<bool, BookError> {
        let key = self.key(position)?;
        let found = self.entries.binary_search_by_key(&key, |entry| entry.0);
        let known = found.map_or([0, seeds(key)], |index| self.entries[index].1);
        let both = self.narrowed(key, known, proved)?;
        if both == known || position.is_over() {
            return Ok(false);
        }
        match found {
            Ok(index) => self.entries[index].1 = both,
            Err(index) => self.entries.insert(index, (key, both)),
        }
        Ok(true)
    }

    /// Adds bounds of many positions as [`Book::add`] does, in the time of sorting them. Returns the number of
    /// positions whose bounds become narrower.
    ///
    /// # Errors
    /// As [`Book::add`]. The book stays unchanged then.
    pub fn add_all(&mut self, proved: impl IntoIterator<Item = (Position, Bounds)>) -> Result<usize, BookError> {
        let mut added = Vec::new();
        for (position, bounds) in proved {
            let key = self.key(&position)?;
            if !position.is_over() {
                added.push((key, bounds));
            }
        }
        added.sort_by_key(|&(key, _)| key);
        let mut entries = Vec::with_capacity(self.entries.len() + added.len());
        let mut before = self.entries.iter().copied().peekable();
        let mut more = 0;
        for same in added.chunk_by(|one, other| one.0 == other.0) {
            let key = same[0].0;
            while let Some(entry) = before.next_if(|entry| entry.0 < key) {
                entries.push(entry);
            }
            let trivial = [0, seeds(key)];
            let known = before.next_if(|entry| entry.0 == key).map_or(trivial, |entry| entry.1);
            let both = same.iter().try_fold(known, |both, &(_, bounds)| self.narrowed(key, both, bounds))?;
            more += usize::from(both != known);
            if both != trivial {
                entries.push((key, both));
            }
        }
        entries.extend(before);
        self.entries = entries;
        Ok(more)
    }

    /// The bounds `known` of the position with this key, narrowed by further `proved` ones.
    ///
    /// # Errors
    /// If they contradict each other.
    fn narrowed(&self, key: u128, known: [u8; 2], proved: Bounds) -> Result<[u8; 2], BookError> {
        let known = bounds(known);
        let both = Bounds { lower: known.lower.max(proved.lower), upper: known.upper.min(proved.upper) };
        if both.lower > both.upper {
            let position = Box::new(self.position(key));
            return Err(BookError::Contradiction { position, known, other: proved, by: "the added bounds" });
        }
        // Both are at most the seeds in play, so they fit.
        Ok([both.lower as u8, both.upper as u8])
    }

    /// The position with this key of an entry.
    fn position(&self, key: u128) -> Position {
        self.keys.position(key).expect("an entry has the key of a position")
    }

    /// Adds all entries of another book. Returns the number of positions whose bounds become narrower.
    ///
    /// # Errors
    /// If it is for another rule set or board, or the books contradict each other. The book stays unchanged
    /// then.
    pub fn merge(&mut self, other: &Book) -> Result<usize, BookError> {
        let (found, expected) = ((other.rules, other.pits()), (self.rules, self.pits()));
        if found != expected {
            return Err(BookError::Other { found, expected });
        }
        self.add_all(other.iter())
    }

    /// All positions, without stores, with the bounds of their scores, ordered by seeds in play and
    /// [rank](ClaimKeys).
    pub fn iter(&self) -> impl Iterator<Item = (Position, Bounds)> + '_ {
        self.entries.iter().map(|&(key, found)| (self.position(key), bounds(found)))
    }

    /// The position at index `number` in the order of [`Book::iter`], with the bounds of its score.
    pub fn nth(&self, number: usize) -> Option<(Position, Bounds)> {
        self.entries.get(number).map(|&(key, found)| (self.position(key), bounds(found)))
    }
}
