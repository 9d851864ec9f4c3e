use kalah_core::game::{Bounds, Position};
use kalah_core::table::Tables;
use kalah_solve::book::{Book, BookError};
use kalah_solve::solve::{SolveError, Solver};

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
