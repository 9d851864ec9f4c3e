//! Fast reading of scores from tables during a search, unchecked until all tables were compared with their checksums.

mod audit;
mod scores;

pub(crate) use audit::Audit;
pub(crate) use scores::{Spot, TableScores};
