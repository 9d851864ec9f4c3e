//! Fast reading of scores and bounds from tables during a search. They are unchecked until all tables were
//! compared with their checksums.

mod audit;
mod layers;
mod scores;

pub(crate) use audit::Audit;
pub(crate) use layers::Layers;
pub(crate) use scores::{Spot, TableScores};
