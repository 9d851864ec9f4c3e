use std::time::Duration;

use kalah_core::game::{Bounds, Pit, Position, Rules};
use kalah_core::table::Tables;
use kalah_solve::book::{Book, BookError, Recalled};
use kalah_solve::solve::{SolveError, Solver};

/// Source of bounds of positions of one board: the rules, a book and tables at once, else a solver with a limit
/// of time.
#[derive(Debug)]
pub struct BoundsSource<'s> {
    book: Option<&'s Book>,
    /// Replaces a missing book.
    empty: Book,
    tables: Option<&'s Tables>,
    solver: Option<(&'s Solver<'s>, Duration)>,
}

impl<'s> BoundsSource<'s> {
    /// Uses the rules, `book` and `tables`. These must be for these rules and this number of pits.
    pub fn new(rules: Rules, pits: usize, book: Option<&'s Book>, tables: Option<&'s Tables>) -> BoundsSource<'s> {
        BoundsSource { book, empty: Book::new(rules, pits), tables, solver: None }
    }

    /// Also uses `solver`, for up to `within` for each position.
    #[must_use]
    pub fn search(self, solver: &'s Solver<'s>, within: Duration) -> BoundsSource<'s> {
        BoundsSource { solver: Some((solver, within)), ..self }
    }

    /// Bounds of a position and of its moves, without a search.
    ///
    /// # Errors
    /// If the book and the tables contradict each other, or a table is damaged.
    pub fn at_once(&self, position: &Position) -> Result<Recalled, BookError> {
        self.book.unwrap_or(&self.empty).recall(position, self.tables)
    }

    /// Bounds of the score of a position, exact if a search finishes in time. The search begins with `guess`, a
    /// value.
    ///
    /// # Errors
    /// As [`BoundsSource::at_once`]; also if the solver fails or is stopped.
    pub fn bounds(&self, position: &Position, guess: Option<i64>) -> Result<Bounds, SolveError> {
        let known = self.at_once(position)?.bounds;
        let Some((solver, within)) = self.solver.filter(|_| known.lower < known.upper) else { return Ok(known) };
        let guess = guess.map_or_else(|| solver.first_guess(position), Ok)?;
        let found = solver.in_time(within, |solver| solver.value(position, guess))?;
        let found =
            found.map_or_else(|| solver.known(position), |(score, _)| Ok(Bounds { lower: score, upper: score }))?;
        Ok(Bounds { lower: known.lower.max(found.lower), upper: known.upper.min(found.upper) })
    }

    /// The moves of a position that keep its `score`; `None` if the search does not finish in time.
    ///
    /// # Errors
    /// As [`BoundsSource::bounds`].
    pub(crate) fn best_moves(&self, position: &Position, score: u32) -> Result<Option<Vec<Pit>>, SolveError> {
        let known = self.at_once(position)?;
        if known.is_decided() {
            return Ok(Some(known.best().collect()));
        }
        let Some((solver, within)) = self.solver else { return Ok(None) };
        Ok(solver.in_time(within, |solver| solver.best_moves(position, score))?)
    }
}
