//! Books made and checked by searches: the positions of the first turns.

use std::collections::HashSet;
use std::time::Duration;

use kalah_core::game::{Bounds, Position};
use kalah_core::table::Tables;
use kalah_solve::book::{Book, BookError};
use kalah_solve::solve::{SolveError, Solver};

/// Positions to solve, and the time for each.
#[derive(Clone, Copy, Debug, Default)]
pub struct MakeOptions {
    /// The turns from the start after which positions are solved. Bounds of shallower positions follow from
    /// those.
    pub turns: u32,
    /// Limit of loss: moves that lose more seeds than this against the best move are in the book, but not
    /// followed.
    pub loss: Option<u32>,
    /// The time for each position. A position that takes longer keeps the bounds proved by then. `None`: no
    /// limit.
    pub within: Option<Duration>,
}

/// A finished position.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Step {
    /// Turns from the start.
    pub turn: u32,
    /// Positions after this number of turns that are finished, this one included.
    pub done: usize,
    /// All positions after this number of turns.
    pub positions: usize,
    /// True if the position was searched.
    pub searched: bool,
}

/// Result of making a book.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Made {
    /// Positions whose bounds follow from others.
    pub derived: usize,
    /// Positions of the first turns whose score is not exact.
    pub open: usize,
}

/// Solves the positions of the first turns from `start` and adds the bounds to `book`.
///
/// The positions after one turn come first, with the bounds that follow from them, then those after two turns,
/// and so on. Positions in the book are not searched again. The solver should not use this book, so that the
/// book can be checked by it.
///
/// Calls `on_step` after each position; the callback may save the book. However the function ends, the book
/// contains every proved bound.
///
/// # Errors
/// If the solver fails or is stopped, a proved bound contradicts the book, or `on_step` fails.
pub fn make(
    solver: &Solver,
    start: &Position,
    options: &MakeOptions,
    book: &mut Book,
    on_step: &mut dyn FnMut(&Book, &Step) -> Result<(), SolveError>,
) -> Result<Made, SolveError> {
    let mut made = Made::default();
    let reach = solver.table_seeds().unwrap_or(0) as u32;
    let is_open = |book: &Book, position: &Position| book.get(position).is_none_or(|known| known.lower < known.upper);
    // The start follows from the positions after one turn.
    for turn in options.turns.min(1)..=options.turns {
        let Reached { inner, mut leaves } = reached(book, start, turn, reach, options.loss)?;
        // Results of positions with fewer seeds speed up those with more.
        leaves.sort_by_key(Position::seeds);
        for (position, done) in leaves.iter().zip(1..) {
            made.derived += usize::from(follow(book, position)?);
            let searched = is_open(book, position);
            if searched {
                search(solver, position, options.within, book)?;
            }
            on_step(book, &Step { turn, done, positions: leaves.len(), searched })?;
        }
        for position in inner.iter().rev() {
            made.derived += usize::from(follow(book, position)?);
        }
        made.open = inner.iter().chain(&leaves).filter(|position| is_open(book, position)).count();
    }
    Ok(made)
}

/// Adds the bounds that follow in one move to the positions of the first `turns` turns from `start`, the last
/// turns first. Returns the number of positions whose bounds became narrower.
///
/// # Errors
/// If the book contradicts itself.
pub fn derive(book: &mut Book, start: &Position, turns: u32) -> Result<usize, BookError> {
    let Reached { inner, .. } = reached(book, start, turns, 0, None)?;
    let mut more = 0;
    for position in inner.iter().rev() {
        more += usize::from(follow(book, position)?);
    }
    Ok(more)
}

/// Adds the bounds of `position` that follow from the positions after its moves. Returns true if they are
/// narrower.
fn follow(book: &mut Book, position: &Position) -> Result<bool, BookError> {
    let bounds = book.recall(position, None)?.bounds;
    // Inexact bounds of a position outside the book are left out: most follow from seeds that moves store at once.
    let exact = bounds.lower == bounds.upper;
    if exact || book.get(position).is_some() { book.add(position, bounds) } else { Ok(false) }
}

/// Searches `position` and adds the proved bounds, even if the search is stopped.
fn search(solver: &Solver, position: &Position, within: Option<Duration>, book: &mut Book) -> Result<(), SolveError> {
    let found = solver.first_guess(position).and_then(|guess| match within {
        Some(within) => solver.narrow(position, guess, within).map(drop),
        None => solver.value(position, guess).map(drop),
    });
    match found {
        Ok(()) | Err(SolveError::Stopped) => {}
        Err(error) => return Err(error),
    }
    let proved = solver.known(position)?;
    if proved != (Bounds { lower: 0, upper: position.seeds() }) {
        book.add(position, proved)?;
    }
    found
}

/// The positions of the first turns of a game, without stores.
struct Reached {
    /// Positions with moves in these turns, each listed before the positions after its moves.
    inner: Vec<Position>,
    /// Positions at the beginning of the turn that follows.
    leaves: Vec<Position>,
}

/// Returns the positions of the first `turns` turns from `start` with more seeds in play than `reach`. With a
/// `loss`, moves proved to lose more seeds than that against the best move are not followed.
///
/// # Errors
/// If the book contradicts itself.
fn reached(book: &Book, start: &Position, turns: u32, reach: u32, loss: Option<u32>) -> Result<Reached, BookError> {
    let start = start.without_stores();
    let mut seen = HashSet::from([start]);
    let (mut inner, mut leaves) = (Vec::new(), vec![start]);
    for _ in 0..turns {
        let mut next = Vec::new();
        // Again-moves add positions of the same turn.
        let mut turn = std::mem::take(&mut leaves);
        let mut index = 0;
        while let Some(&position) = turn.get(index) {
            index += 1;
            let recalled = book.recall(&position, None)?;
            for &(pit, bounds) in &recalled.moves {
                let played = position.play(book.rules(), pit).expect("a legal move");
                let after = played.position.without_stores();
                let lost = loss.is_some_and(|loss| bounds.upper.saturating_add(loss) < recalled.bounds.lower);
                if lost || after.is_over() || after.seeds() <= reach || !seen.insert(after) {
                    continue;
                }
                if played.again { &mut turn } else { &mut next }.push(after);
            }
        }
        inner.extend(turn);
        leaves = next;
    }
    Ok(Reached { inner, leaves })
}

/// Compares every position of a book with the positions after its moves, whose bounds come from the book, the
/// rules and `tables`. Calls `done` with the number of positions compared, and stops when it returns false.
///
/// # Errors
/// For the first contradiction, or if a table is damaged.
pub fn check_neighbours(
    book: &Book,
    tables: Option<&Tables>,
    done: &mut dyn FnMut(usize) -> bool,
) -> Result<(), BookError> {
    for (index, (position, _)) in book.iter().enumerate() {
        book.recall(&position, tables)?;
        if !done(index + 1) {
            break;
        }
    }
    Ok(())
}

/// Proves the `bounds` of the score of `position` again. If they are contradicted, returns the bounds that were
/// proved instead. The solver must not use the book.
///
/// # Errors
/// As [`Solver::test`].
pub fn check_by_search(solver: &Solver, position: &Position, bounds: Bounds) -> Result<Option<Bounds>, SolveError> {
    let mut known = solver.known(position)?;
    if bounds.lower > known.lower {
        known = solver.test(position, bounds.lower)?;
    }
    if bounds.upper < known.upper {
        known = solver.test(position, bounds.upper + 1)?;
    }
    Ok((known.lower > bounds.upper || known.upper < bounds.lower).then_some(known))
}
