use kalah_core::game::{Bounds, Line, Position};
use kalah_core::table::{Layer, Tables};
use serde::Serialize;

use crate::book::{Book, BookError};

/// A score and the value that follows from it, or bounds of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Known {
    /// The score, if it is exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<u32>,
    /// The value, if it is exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<i64>,
    /// Lower bound of a value that is not exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<i64>,
    /// Upper bound of a value that is not exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<i64>,
}

impl Known {
    /// The value of `position`, or its bounds, from `bounds` of its score. Bounds that follow from
    /// the seeds in play are left out.
    pub(crate) fn new(position: &Position, bounds: Bounds) -> Known {
        let exact = (bounds.lower == bounds.upper).then_some(bounds.lower);
        let [lower, upper] = [bounds.lower, bounds.upper].map(|score| position.value(score));
        let open = exact.is_none();
        Known {
            score: exact,
            value: exact.map(|_| lower),
            at_least: (open && bounds.lower > 0).then_some(lower),
            at_most: (open && bounds.upper < position.seeds()).then_some(upper),
        }
    }
}

/// A move with what the book proves of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BookMove {
    /// Number of the pit, from 1.
    pub r#move: usize,
    /// Its value for the mover, or bounds.
    #[serde(flatten)]
    pub known: Known,
}

/// The book's answer for a position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BookAnswer {
    /// The position.
    pub position: String,
    /// Seeds in play.
    pub seeds: u32,
    /// Its value, or bounds.
    #[serde(flatten)]
    pub known: Known,
    /// Every legal move.
    pub moves: Vec<BookMove>,
    /// Numbers of the moves that are proved to keep the value.
    pub best: Vec<usize>,
    /// A line of best play.
    pub line: String,
    /// True if the line stops before the game is over.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub line_open: bool,
    /// Always true: names the source.
    pub book: bool,
}

impl BookAnswer {
    /// The answer of `book` for `position`, with `tables` for the rest of the line; `None` if it
    /// has no bounds.
    ///
    /// # Errors
    /// When a table is damaged, or the book contradicts it.
    pub fn recall<T: Layer>(
        book: &Book,
        position: &Position,
        tables: Option<&Tables<T>>,
    ) -> Result<Option<BookAnswer>, BookError> {
        let recalled = book.recall_with(position, tables)?;
        if !recalled.from_book || book.get(position).is_none() && recalled.score().is_none() {
            return Ok(None);
        }
        let (line, complete) = match recalled.score() {
            Some(_) => book.line(position, tables)?,
            None => (Line::new(position.pits()), false),
        };
        let moves = recalled.moves.iter();
        Ok(Some(BookAnswer {
            position: position.to_string(),
            seeds: position.seeds(),
            known: Known::new(position, recalled.bounds),
            moves: moves
                .map(|&(pit, bounds)| BookMove { r#move: pit.number(), known: Known::new(position, bounds) })
                .collect(),
            best: recalled.best().map(|pit| pit.number()).collect(),
            line: line.to_string(),
            line_open: !complete,
            book: true,
        }))
    }
}
