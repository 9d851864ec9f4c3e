//! Fast reading of scores and bounds from tables during a search.
//!
//! Each block is compared with its checksum when it is first read, unless the whole layer was compared before.

// | module | contents |
// |---|---|
// | `layers` | the layers that a search reads: exact tables, and bound tables above them |
// | `scores` | looking up the score or bounds of a position |

mod layers;
mod scores;

pub(crate) use layers::Layers;
pub(crate) use scores::{ScoreLocation, TableScores};
