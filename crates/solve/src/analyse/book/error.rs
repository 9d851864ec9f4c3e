use crate::book::{BookError, BookFileError};
use crate::solve::SolveError;

/// Error of making a book: it was not begun or not finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MakeError {
    /// A search failed, or was stopped.
    #[error("{0}")]
    Solve(#[from] SolveError),
    /// A proved bound contradicts the book, or the position cannot be in it.
    #[error("{0}")]
    Book(#[from] BookError),
    /// The book could not be saved.
    #[error("{0}")]
    File(#[from] BookFileError),
}
