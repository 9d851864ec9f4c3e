use std::time::Duration;

use kalah_core::game::{Bounds, Position};

use super::error::MakeError;
use super::reach::{Reached, reached};
use crate::book::{Book, BookError};
use crate::solve::{SolveError, Solver};

/// Which positions to solve, and for how long.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MakeOptions {
    /// The turns from the start after which positions are solved. What comes before follows from them.
    pub turns: u32,
    /// Moves that lose more seeds than this, against the best one, are in the book but not followed further.
    pub loss: Option<u32>,
    /// The time for each position; bounds are kept of those that take longer. `None`: as long as it takes.
    pub within: Option<Duration>,
}

impl MakeOptions {
    /// All positions of so many turns, however long they take.
    pub fn new(turns: u32) -> MakeOptions {
        MakeOptions { turns, loss: None, within: None }
    }
}

/// A position that was dealt with.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Step {
    /// Turns from the start.
    pub turn: u32,
    /// Positions after as many turns that were dealt with, this one included.
    pub done: usize,
    /// All positions after as many turns.
    pub positions: usize,
    /// The position.
    pub position: Position,
    /// What is proved of its score.
    pub bounds: Bounds,
    /// Whether it was searched.
    pub searched: bool,
}

/// What was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Made {
    /// Positions that were searched.
    pub searched: usize,
    /// Positions whose bounds follow from others.
    pub derived: usize,
    /// Positions of the first turns whose score is not exact.
    pub open: usize,
}

/// Adds to `book` what is proved of the positions of the first turns from `start`: first of the positions after one
/// turn, and what follows from them, then of those after two, and so on. What is in the book is not searched again. The
/// solver should not use this book, or it could not be checked by it.
///
/// Calls `on_step` after each position; the book can be saved then. Whenever it ends, the book has what was proved.
///
/// # Errors
/// When the solver fails or is stopped, what it proves contradicts the book, or `on_step` fails.
pub fn make(
    solver: &Solver,
    start: &Position,
    options: &MakeOptions,
    book: &mut Book,
    on_step: &mut dyn FnMut(&Book, &Step) -> Result<(), MakeError>,
) -> Result<Made, MakeError> {
    let mut made = Made::default();
    let reach = solver.table_seeds().unwrap_or(0) as u32;
    // The start itself follows from the positions after a turn.
    for turn in options.turns.min(1)..=options.turns {
        let Reached { inner, mut leaves } = reached(book, start, turn, reach, options.loss)?;
        // What was found of games with fewer seeds helps with those that have more.
        leaves.sort_by_key(Position::seeds);
        for (index, &position) in leaves.iter().enumerate() {
            made.derived += usize::from(follow(book, &position)?);
            let is_open = |book: &Book| book.get(&position).is_none_or(|known| known.lower < known.upper);
            let searched = is_open(book);
            if searched {
                made.searched += 1;
                search(solver, &position, options.within, book)?;
            }
            let bounds = book.recall(&position, None)?.bounds;
            let (done, positions) = (index + 1, leaves.len());
            on_step(book, &Step { turn, done, positions, position, bounds, searched })?;
        }
        for position in inner.iter().rev() {
            made.derived += usize::from(follow(book, position)?);
        }
        let is_open = |position: &&Position| book.get(position).is_none_or(|known| known.lower < known.upper);
        made.open = inner.iter().chain(&leaves).filter(is_open).count();
    }
    Ok(made)
}

/// Adds what follows in one move each about the positions of the first `turns` turns from `start`, from the last ones
/// back; returns of how many positions more is known than before.
///
/// # Errors
/// When the book contradicts itself.
pub fn derive(book: &mut Book, start: &Position, turns: u32) -> Result<usize, BookError> {
    let Reached { inner, .. } = reached(book, start, turns, 0, None)?;
    let mut more = 0;
    for position in inner.iter().rev() {
        more += usize::from(follow(book, position)?);
    }
    Ok(more)
}

/// Adds what follows about `position` from the positions after its moves; returns whether that is more than before.
fn follow(book: &mut Book, position: &Position) -> Result<bool, BookError> {
    let bounds = book.recall(position, None)?.bounds;
    // What moves store at once is no news, unless something else is known.
    let exact = bounds.lower == bounds.upper;
    if exact || book.get(position).is_some() { book.add(position, bounds) } else { Ok(false) }
}

/// Searches `position` and adds what was proved, also when the search is stopped.
fn search(solver: &Solver, position: &Position, within: Option<Duration>, book: &mut Book) -> Result<(), MakeError> {
    let found = solver.first_guess(position).and_then(|guess| match within {
        Some(within) => solver.narrow(position, guess, within).map(drop),
        None => solver.value(position, guess).map(drop),
    });
    match found {
        Ok(()) | Err(SolveError::Stopped) => {}
        Err(error) => return Err(error.into()),
    }
    let proved = solver.known(position)?;
    if proved != (Bounds { lower: 0, upper: position.seeds() }) {
        book.add(position, proved)?;
    }
    Ok(found?)
}
