use std::ops::RangeInclusive;

use kalah_core::game::{Bounds, Position, Rules};

use super::error::BookError;
use super::key;

/// Proved bounds of the scores of positions, for one rule set and number of pits. Most positions are near the
/// start.
///
/// Stores do not matter: bounds of a position hold whatever was stored before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Book {
    rules: Rules,
    pits: usize,
    /// Sorted by seeds and key.
    pub(super) entries: Vec<Entry>,
}

/// Bounds of a position.
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

    /// The widest bounds of a position.
    fn unknown((seeds, key): (u8, u64)) -> Entry {
        Entry { seeds, key, lower: 0, upper: seeds }
    }

    /// Narrows the bounds by further `proved` ones.
    ///
    /// # Errors
    /// If they contradict the bounds of this entry.
    fn narrowed(&self, pits: usize, proved: Bounds) -> Result<Entry, BookError> {
        let known = self.bounds();
        let both = Bounds { lower: known.lower.max(proved.lower), upper: known.upper.min(proved.upper) };
        if both.lower > both.upper {
            let position =
                key::position(pits, self.seeds.into(), self.key).expect("an entry has the key of a position");
            let position = Box::new(position);
            return Err(BookError::Contradiction { position, known, other: proved, by: "the added bounds" });
        }
        // Both are at most the seeds in play, so they fit.
        Ok(Entry { lower: both.lower as u8, upper: both.upper as u8, ..*self })
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
        self.entries.iter().filter(|entry| entry.lower == entry.upper).count()
    }

    /// Least and most seeds in play of its positions; `None` if it is empty.
    pub fn seeds(&self) -> Option<RangeInclusive<u32>> {
        Some(self.entries.first()?.seeds.into()..=self.entries.last()?.seeds.into())
    }

    /// Seeds in play and key of a position.
    ///
    /// # Errors
    /// If a book cannot contain the position.
    fn place(&self, position: &Position) -> Result<(u8, u64), BookError> {
        let place = || Some((u8::try_from(position.seeds()).ok()?, key::key(position)?));
        let own = (position.pits() == self.pits).then(place).flatten();
        own.ok_or_else(|| BookError::Board(Box::new(position.without_stores())))
    }

    /// The bounds of the score of `position`; `None` if it is not in the book.
    pub fn get(&self, position: &Position) -> Option<Bounds> {
        // Most positions of a search have fewer seeds than any in the book.
        if !self.seeds()?.contains(&position.seeds()) {
            return None;
        }
        let place = self.place(position).ok()?;
        let found = self.entries.binary_search_by_key(&place, Entry::place);
        Some(self.entries[found.ok()?].bounds())
    }

    /// Adds proved bounds of the score of `position`. Returns true if the stored bounds become narrower.
    /// Finished games are left out, since the rules give their scores.
    ///
    /// # Errors
    /// If the bounds contradict the book, or the position cannot be in it. The book stays unchanged then.
    pub fn add(&mut self, position: &Position, proved: Bounds) -> Result<bool, BookError> {
        let place = self.place(position)?;
        let found = self.entries.binary_search_by_key(&place, Entry::place);
        let known = found.map_or_else(|_| Entry::unknown(place), |index| self.entries[index]);
        let entry = known.narrowed(self.pits, proved)?;
        if entry == known || position.is_over() {
            return Ok(false);
        }
        match found {
            Ok(index) => self.entries[index] = entry,
            Err(index) => self.entries.insert(index, entry),
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
            let place = self.place(&position)?;
            if !position.is_over() {
                added.push((place, bounds));
            }
        }
        added.sort_by_key(|&(place, _)| place);
        let mut entries = Vec::with_capacity(self.entries.len() + added.len());
        let mut before = self.entries.iter().copied().peekable();
        let mut more = 0;
        for same in added.chunk_by(|one, other| one.0 == other.0) {
            let place = same[0].0;
            while let Some(entry) = before.next_if(|entry| entry.place() < place) {
                entries.push(entry);
            }
            let known = before.next_if(|entry| entry.place() == place);
            let mut entry = known.unwrap_or(Entry::unknown(place));
            for &(_, bounds) in same {
                entry = entry.narrowed(self.pits, bounds)?;
            }
            let is_more = entry != known.unwrap_or(Entry::unknown(place));
            more += usize::from(is_more);
            if is_more || known.is_some() {
                entries.push(entry);
            }
        }
        entries.extend(before);
        self.entries = entries;
        Ok(more)
    }

    /// Adds all entries of another book. Returns the number of positions whose bounds become narrower.
    ///
    /// # Errors
    /// If it is for another rule set or board, or the books contradict each other. The book stays unchanged
    /// then.
    pub fn merge(&mut self, other: &Book) -> Result<usize, BookError> {
        let (found, expected) = ((other.rules, other.pits), (self.rules, self.pits));
        if found != expected {
            return Err(BookError::Other { found, expected });
        }
        self.add_all(other.iter())
    }

    /// All positions, without stores, with the bounds of their scores, ordered by seeds in play and key.
    pub fn iter(&self) -> impl Iterator<Item = (Position, Bounds)> + '_ {
        self.entries.iter().map(|entry| {
            let position = key::position(self.pits, entry.seeds.into(), entry.key);
            (position.expect("an entry has the key of a position"), entry.bounds())
        })
    }

    /// The position at index `number` in the order of [`Book::iter`], with the bounds of its score.
    pub fn nth(&self, number: usize) -> Option<(Position, Bounds)> {
        let entry = self.entries.get(number)?;
        Some((key::position(self.pits, entry.seeds.into(), entry.key)?, entry.bounds()))
    }
}
