use kalah_base::diagnostic::{Commands, Diagnosis, Diagnostic, Outcome};
use kalah_core::evaluation::NetworkError;
use kalah_core::table::TableError;
use kalah_core::text::count;

use crate::solve::SolveError;

/// Error of training a network.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// There are too few tables.
    #[error("training a network needs tables to at least {least} seeds, but they end at {found}")]
    Tables {
        /// The largest layer that is needed.
        least: usize,
        /// The largest layer with a table; 0 for none.
        found: usize,
    },
    /// Random games do not lead to positions to learn from.
    #[error("games with {} a side end before there are positions to learn from", count(*pits, "pit"))]
    Board {
        /// Pits a side.
        pits: usize,
    },
    /// A table is damaged.
    #[error("{0}")]
    Table(#[from] TableError),
    /// A position above the tables could not be solved.
    #[error("{0}")]
    Solve(#[from] SolveError),
    /// The trained weights are too large.
    #[error("training did not converge: {0}")]
    Network(#[from] NetworkError),
}

impl Diagnostic for TrainError {
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        match self {
            TrainError::Table(error) => error.diagnosis(commands),
            TrainError::Solve(error) => error.diagnosis(commands),
            _ => Outcome::Failed.into(),
        }
    }
}
