use std::ops::RangeInclusive;

use super::error::BookError;
use super::key;
use crate::game::{Bounds, Position, Rules};

/// Proved bounds of the scores of positions, most of them near the start, for one rule set and number of pits.
///
/// Stores do not matter: what is known of a position holds whatever was stored before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Book {
    rules: Rules,
    pits: usize,
    /// Sorted by seeds and key.
    pub(super) entries: Vec<Entry>,
}

/// The bounds of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub seeds: u8,
    pub key: u64,
    pub lower: u8,
    pub upper: u8,
}

impl Entry {
    pub fn place(&self) -> (u8, u64) {
        (self.seeds, self.key)
    }

    pub fn bounds(&self) -> Bounds {
        Bounds { lower: self.lower.into(), upper: self.upper.into() }
    }
}

impl Book {
    /// An empty book.
    pub fn new(rules: Rules, pits: usize) -> Book {
        Book { rules, pits, entries: Vec::new() }
    }

    pub(super) fn of(rules: Rules, pits: usize, entries: Vec<Entry>) -> Book {
        Book { rules, pits, entries }
    }

    /// The rule set.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Pits a side.
    pub fn pits(&self) -> usize {
        self.pits
    }

    /// How many positions it has.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it has no position.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many of its positions have an exact score.
    pub fn exact(&self) -> usize {
        self.entries.iter().filter(|entry| entry.lower == entry.upper).count()
    }

    /// The least and the most seeds in play of its positions; `None` if it has none.
    pub fn seeds(&self) -> Option<RangeInclusive<u32>> {
        Some(self.entries.first()?.seeds.into()..=self.entries.last()?.seeds.into())
    }

    /// Where the position is, or would be; `None` if a book cannot have it.
    fn find(&self, position: &Position) -> Option<((u8, u64), Result<usize, usize>)> {
        if position.pits() != self.pits {
            return None;
        }
        let place = (u8::try_from(position.seeds()).ok()?, key::key(position)?);
        Some((place, self.entries.binary_search_by_key(&place, Entry::place)))
    }

    /// The bounds of the score of `position`; `None` if it is not in the book.
    pub fn get(&self, position: &Position) -> Option<Bounds> {
        // Most positions of a search have fewer seeds than all of the book.
        if !self.seeds()?.contains(&position.seeds()) {
            return None;
        }
        let (_, found) = self.find(position)?;
        Some(self.entries[found.ok()?].bounds())
    }

    /// Adds proved bounds of the score of `position` to what is known; returns whether that is more than before.
    /// Finished games are left out: the rules know their scores.
    ///
    /// # Errors
    /// When the bounds contradict the book, or the position cannot be in it; the book is unchanged then.
    pub fn add(&mut self, position: &Position, proved: Bounds) -> Result<bool, BookError> {
        let seeds = position.seeds();
        let none = || BookError::Board(Box::new(position.without_stores()));
        let (place, found) = self.find(position).ok_or_else(none)?;
        let known = found.map_or(Bounds { lower: 0, upper: seeds }, |index| self.entries[index].bounds());
        let both = Bounds { lower: known.lower.max(proved.lower), upper: known.upper.min(proved.upper) };
        if both.lower > both.upper {
            let position = Box::new(position.without_stores());
            return Err(BookError::Contradiction { position, known, other: proved, by: "what is added" });
        }
        if both == known || position.is_over() {
            return Ok(false);
        }
        // Both are at most the seeds in play, which fit.
        let entry = Entry { seeds: place.0, key: place.1, lower: both.lower as u8, upper: both.upper as u8 };
        match found {
            Ok(index) => self.entries[index] = entry,
            Err(index) => self.entries.insert(index, entry),
        }
        Ok(true)
    }

    /// Adds all that is in another book; returns for how many positions the bounds are narrower than before.
    ///
    /// # Errors
    /// When it is for another rule set or board, or the books contradict each other; what was added before that stays.
    pub fn merge(&mut self, other: &Book) -> Result<usize, BookError> {
        let (found, expected) = ((other.rules, other.pits), (self.rules, self.pits));
        if found != expected {
            return Err(BookError::Other { found, expected });
        }
        let mut more = 0;
        for (position, bounds) in other.iter() {
            more += usize::from(self.add(&position, bounds)?);
        }
        Ok(more)
    }

    /// Its positions, without stores, with the bounds of their scores: by seeds in play, then by key.
    pub fn iter(&self) -> impl Iterator<Item = (Position, Bounds)> + '_ {
        self.entries.iter().map(|entry| {
            let position = key::position(self.pits, entry.seeds.into(), entry.key);
            (position.expect("an entry has the key of a position"), entry.bounds())
        })
    }

    /// The position with this number, from 0, in the order of [`Book::iter`], with the bounds of its score.
    pub fn nth(&self, number: usize) -> Option<(Position, Bounds)> {
        let entry = self.entries.get(number)?;
        Some((key::position(self.pits, entry.seeds.into(), entry.key)?, entry.bounds()))
    }
}
