use kalah_core::game::{Bounds, Position};
use kalah_tables::table::Tables;

use crate::book::{Book, BookError};
use crate::solve::{SolveError, Solver};

/// Compares every position of a book with the positions after its moves, as far as the book, the rules and `tables`
/// know them. Calls `done` with the number of positions compared; it ends when that returns false.
///
/// # Errors
/// With the first contradiction, or when a table is damaged.
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

/// Proves the `bounds` of the score of `position` again; returns what was proved instead if that contradicts them. The
/// solver must not use the book.
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
