use kalah_base::diagnostic::{Commands, Diagnosis, Diagnostic};
use kalah_core::game::ParseError;

use crate::book::{BookError, BookFileError};
use crate::solve::SolveError;

/// Error of looking up or searching positions, and of keeping what was found in a book.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnalyseError {
    /// The solver failed, or was stopped.
    #[error("{0}")]
    Solve(#[from] SolveError),
    /// The book or a table cannot be used, they contradict each other, or the position cannot be in a book.
    #[error("{0}")]
    Book(#[from] BookError),
    /// The book could not be saved.
    #[error("{0}")]
    File(#[from] BookFileError),
    /// The game is not legal.
    #[error("{0}")]
    Line(#[from] ParseError),
}

impl Diagnostic for AnalyseError {
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        match self {
            AnalyseError::Solve(error) => error.diagnosis(commands),
            AnalyseError::Book(error) => error.diagnosis(commands),
            AnalyseError::File(error) => error.diagnosis(commands),
            AnalyseError::Line(error) => error.diagnosis(commands),
        }
    }
}
