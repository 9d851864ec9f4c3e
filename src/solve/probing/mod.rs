//! Scores of tables, as a search reads them: fast, and unchecked until all tables were compared with their checksums.

mod audit;
mod scores;

pub(crate) use audit::Audit;
pub(crate) use scores::{Spot, TableScores};
