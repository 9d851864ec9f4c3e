//! The book's answer for a position.

use kalah::book::{Book, BookError};
use kalah::game::{Bounds, Line, Position};
use kalah::table::Tables;
use serde::Serialize;

use crate::cli::output::{self, value as signed};

/// A score and the value that follows from it, or bounds of them.
#[derive(Serialize)]
struct Known {
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<i64>,
    /// Bounds, if the value is not exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_most: Option<i64>,
}

impl Known {
    fn new(position: &Position, bounds: Bounds) -> Known {
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

    /// Returns the value or its bounds: `value +2`, `value -4 to +2`.
    fn text(&self) -> String {
        match (self.value, self.at_least, self.at_most) {
            (Some(value), ..) => format!("value {}", signed(value)),
            (None, Some(least), Some(most)) => format!("value {} to {}", signed(least), signed(most)),
            (None, Some(least), None) => format!("value at least {}", signed(least)),
            (None, None, Some(most)) => format!("value at most {}", signed(most)),
            (None, None, None) => "value unknown".to_owned(),
        }
    }
}

#[derive(Serialize)]
struct MoveKnown {
    r#move: usize,
    #[serde(flatten)]
    known: Known,
}

/// The book's answer for a position, as it is printed.
#[derive(Serialize)]
pub struct FromBook {
    position: String,
    seeds: u32,
    #[serde(flatten)]
    known: Known,
    moves: Vec<MoveKnown>,
    best: Vec<usize>,
    line: String,
    /// True if the line stops before the game is over.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    line_open: bool,
    book: bool,
}

impl FromBook {
    /// Returns the answer of `book` for `position`, with `tables` for the rest of the line; `None` if it has no
    /// bounds.
    pub fn recall(book: &Book, position: &Position, tables: Option<&Tables>) -> Result<Option<FromBook>, BookError> {
        let recalled = book.recall(position, tables)?;
        if !recalled.from_book || book.get(position).is_none() && recalled.score().is_none() {
            return Ok(None);
        }
        let (line, complete) = match recalled.score() {
            Some(_) => book.line(position, tables)?,
            None => (Line::new(position.pits()), false),
        };
        let moves = recalled.moves.iter();
        Ok(Some(FromBook {
            position: position.to_string(),
            seeds: position.seeds(),
            known: Known::new(position, recalled.bounds),
            moves: moves
                .map(|&(pit, bounds)| MoveKnown { r#move: pit.number(), known: Known::new(position, bounds) })
                .collect(),
            best: recalled.best().map(|pit| pit.number()).collect(),
            line: line.to_string(),
            line_open: !complete,
            book: true,
        }))
    }

    /// Prints the answer, on several lines or as one JSON object.
    pub fn print(&self, json: bool) -> std::io::Result<()> {
        if json {
            return output::json(self);
        }
        output::line(&self.position)?;
        let score = self.known.score.map_or(String::new(), |score| format!("score {score} of the "));
        output::line(format_args!("  {score}{} seeds in play, {}, from the book", self.seeds, self.known.text()))?;
        let moves = self.moves.iter().map(|MoveKnown { r#move, known }| {
            let known = known.text();
            format!("{move}: {}", known.strip_prefix("value ").unwrap_or(&known))
        });
        output::line(format_args!("  values of the moves  {}", output::joined(moves, ", ")))?;
        if !self.best.is_empty() {
            output::line(format_args!("  best   {}", output::joined(&self.best, " ")))?;
        }
        if !self.line.is_empty() {
            let open = if self.line_open { " ... (the book ends here)" } else { "" };
            output::line(format_args!("  line   {}{open}", self.line))?;
        }
        Ok(())
    }
}
