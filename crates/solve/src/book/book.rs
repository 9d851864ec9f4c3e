use std::collections::HashSet;
use std::io;
use std::ops::RangeInclusive;

use kalah_base::diagnostic::{Diagnosis, Diagnostic, Outcome};
use kalah_base::file::LockError;
use kalah_core::game::{Bounds, Position, Rules};
use kalah_core::header::HeaderError;
use kalah_core::table::TableError;
use kalah_core::text::count;

use crate::bounds::{ClaimError, ClaimSet};

/// Proved bounds of the scores of positions, for one rule set and number of pits. Most positions are near the
/// start.
///
/// Stores do not matter: bounds of a position hold whatever was stored before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Book {
    rules: Rules,
    pub(super) claims: ClaimSet,
}

impl Book {
    /// An empty book.
    pub fn new(rules: Rules, pits: usize) -> Book {
        Book::of(rules, ClaimSet::new(pits))
    }

    /// A book of these claims.
    pub(super) fn of(rules: Rules, claims: ClaimSet) -> Book {
        Book { rules, claims }
    }

    /// The rule set.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Pits a side.
    pub fn pits(&self) -> usize {
        self.claims.keys().pits()
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.claims.len()
    }

    /// Returns true if it has no position.
    pub fn is_empty(&self) -> bool {
        self.claims.is_empty()
    }

    /// Number of positions with an exact score.
    pub fn exact(&self) -> usize {
        self.claims.coded().filter(|(_, [lower, upper])| lower == upper).count()
    }

    /// Least and most seeds in play of its positions; `None` if it is empty.
    pub fn seeds(&self) -> Option<RangeInclusive<u32>> {
        self.claims.seeds()
    }

    /// The bounds of the score of `position`; `None` if it is not in the book.
    pub fn get(&self, position: &Position) -> Option<Bounds> {
        // Most positions of a search have fewer seeds than any in the book.
        self.seeds().filter(|seeds| seeds.contains(&position.seeds()))?;
        self.claims.get(position)
    }

    /// Adds proved bounds of the score of `position`. Returns true if the stored bounds become narrower.
    /// Finished games are left out, since the rules give their scores.
    ///
    /// # Errors
    /// If the bounds contradict the book, or the position cannot be in it. The book stays unchanged then.
    pub fn add(&mut self, position: &Position, proved: Bounds) -> Result<bool, BookError> {
        Ok(self.claims.add(position, proved)?)
    }

    /// Adds bounds of many positions as [`Book::add`] does. Returns the number of positions whose bounds become
    /// narrower.
    ///
    /// # Errors
    /// As [`Book::add`]. The book stays unchanged then.
    pub fn add_all(&mut self, proved: impl IntoIterator<Item = (Position, Bounds)>) -> Result<usize, BookError> {
        let (mut claims, mut narrower) = (self.claims.clone(), HashSet::new());
        for (position, bounds) in proved {
            if claims.add(&position, bounds)? {
                narrower.insert(position.without_stores());
            }
        }
        self.claims = claims;
        Ok(narrower.len())
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
    /// [rank](crate::bounds::ClaimKeys).
    pub fn iter(&self) -> impl Iterator<Item = (Position, Bounds)> + '_ {
        self.claims.iter().map(|claim| (claim.position, claim.bounds))
    }
}

/// Error of a book: it cannot be used or extended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BookError {
    /// It is not a book, or has another version.
    #[error("{0}")]
    Header(HeaderError),
    /// Some of its bytes were changed.
    #[error("{0}: it was changed or damaged")]
    Damaged(&'static str),
    /// It is a book for another rule set or board.
    #[error(
        "it is a book for {} with {}, not for {} with {}",
        found.0, count(found.1, "pit"), expected.0, count(expected.1, "pit")
    )]
    Other {
        /// Rule set and pits a side of the file.
        found: (Rules, usize),
        /// Rule set and pits a side that it should have.
        expected: (Rules, usize),
    },
    /// Two bounds contradict each other, or the position cannot be in a book.
    #[error("{0}")]
    Claim(#[from] ClaimError),
    /// It cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Another process is extending it.
    #[error("{0}")]
    Lock(#[from] LockError),
    /// A table cannot be read.
    #[error("{0}")]
    Table(#[from] TableError),
}

impl From<HeaderError> for BookError {
    fn from(error: HeaderError) -> BookError {
        match error {
            HeaderError::Short(_) => BookError::Damaged("its header is incomplete"),
            HeaderError::Damaged => BookError::Damaged("its header is wrong"),
            error => BookError::Header(error),
        }
    }
}

/// Only a file that is certainly a damaged book is to be deleted.
impl Diagnostic for BookError {
    fn diagnosis(&self) -> Diagnosis {
        match self {
            BookError::Damaged(_) => {
                Outcome::Wrong.help("delete it: the program contains books, and `kalah book make 6x4` makes more")
            }
            BookError::Header(error) => {
                let is_foreign = matches!(error, HeaderError::Foreign(_));
                let outcome = if is_foreign { Outcome::Wrong } else { Outcome::Failed };
                outcome.help("choose another file, or move it away from the tables: the program contains books")
            }
            BookError::Claim(ClaimError::Contradiction { .. }) => Outcome::Wrong
                .help("find out which is wrong with `kalah book check` and `kalah verify`, or use --no-book"),
            BookError::Other { .. } => {
                Outcome::Failed.help("choose another file, or give the book's rule set and board")
            }
            BookError::Claim(_) => Outcome::Failed.into(),
            BookError::Io(error) => error.diagnosis(),
            BookError::Lock(error) => error.diagnosis(),
            BookError::Table(error) => error.diagnosis(),
        }
    }
}
