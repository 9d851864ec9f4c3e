use std::time::Duration;

use kalah_core::game::{Bounds, Pit, Position, Rules};
use kalah_tables::table::Tables;

use crate::book::{Book, BookError, Recalled};
use crate::solve::{SolveError, Solver};

/// What is known of positions of one board: at once by the rules, a book and tables; else by a solver, within a time for each.
#[derive(Debug)]
pub struct Knowledge<'k> {
    book: Option<&'k Book>,
    /// In place of a book, where there is none.
    empty: Book,
    tables: Option<&'k Tables>,
    solver: Option<(&'k Solver<'k>, Duration)>,
}

/// Why nothing is known of a position.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KnowledgeError {
    /// The book or a table cannot be used, or they contradict each other.
    #[error("{0}")]
    Book(#[from] BookError),
    /// The solver failed, or was stopped.
    #[error("{0}")]
    Solve(#[from] SolveError),
}

impl<'k> Knowledge<'k> {
    /// What the rules say, and `book` and `tables`, which must be of these rules and so many pits.
    pub fn new(rules: Rules, pits: usize, book: Option<&'k Book>, tables: Option<&'k Tables>) -> Knowledge<'k> {
        Knowledge { book, empty: Book::new(rules, pits), tables, solver: None }
    }

    /// The same, and what `solver` proves of a position `within` this time.
    #[must_use]
    pub fn search(self, solver: &'k Solver<'k>, within: Duration) -> Knowledge<'k> {
        Knowledge { solver: Some((solver, within)), ..self }
    }

    /// What is known of a position and its moves without a search.
    ///
    /// # Errors
    /// When the book and the tables contradict each other, or a table is damaged.
    pub fn at_once(&self, position: &Position) -> Result<Recalled, BookError> {
        self.book.unwrap_or(&self.empty).recall(position, self.tables)
    }

    /// Bounds of the score of a position; exact ones, if a search succeeds in its time. It begins with `guess`, a value.
    ///
    /// # Errors
    /// As [`Knowledge::at_once`], and when the solver fails or is stopped.
    pub fn bounds(&self, position: &Position, guess: Option<i64>) -> Result<Bounds, KnowledgeError> {
        let known = self.at_once(position)?.bounds;
        let Some((solver, within)) = self.solver.filter(|_| known.lower < known.upper) else { return Ok(known) };
        let guess = guess.map_or_else(|| solver.first_guess(position), Ok)?;
        let found = solver.in_time(within, |solver| solver.value(position, guess))?;
        let found =
            found.map_or_else(|| solver.known(position), |(score, _)| Ok(Bounds { lower: score, upper: score }))?;
        Ok(Bounds { lower: known.lower.max(found.lower), upper: known.upper.min(found.upper) })
    }

    /// The moves of a position that keep its `score`; `None` if that is not found in time.
    ///
    /// # Errors
    /// As [`Knowledge::bounds`].
    pub fn best_moves(&self, position: &Position, score: u32) -> Result<Option<Vec<Pit>>, KnowledgeError> {
        let known = self.at_once(position)?;
        if known.is_decided() {
            return Ok(Some(known.best().collect()));
        }
        let Some((solver, within)) = self.solver else { return Ok(None) };
        Ok(solver.in_time(within, |solver| solver.best_moves(position, score))?)
    }
}
