use crate::book::{BookError, BookFileError};
use crate::solve::SolveError;

/// Why a book was not made, or not to the end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MakeError {
    /// A search failed, or was stopped.
    #[error("{0}")]
    Solve(#[from] SolveError),
    /// What was proved contradicts the book, or cannot be in it.
    #[error("{0}")]
    Book(#[from] BookError),
    /// The book could not be saved.
    #[error("{0}")]
    File(#[from] BookFileError),
}
