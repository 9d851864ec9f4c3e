//! Fast reading of scores and bounds from tables during a search.
//!
//! A search reads them without checking them. Meanwhile the tables are compared with their checksums, and its
//! results are used only once that is complete.

// | module | contents |
// |---|---|
// | `layers` | the layers that a search reads: exact tables, and bound tables above them |
// | `scores` | looking up the score or bounds of a position |
// | `audit` | comparing the tables with their checksums |

mod audit;
mod layers;
mod scores;

pub(crate) use audit::{Audit, Pass};
pub(crate) use layers::Layers;
pub(crate) use scores::{ScoreLocation, TableScores};
