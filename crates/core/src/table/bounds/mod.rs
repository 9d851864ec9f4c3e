//! Bound tables: one or two bits for each position of a layer, which state the interval of its score.
//!
//! The intervals lie between a few *cuts* at fixed distances from the evaluation of the position by an [evaluation
//! network](crate::evaluation). A file half or a quarter as large as the exact table therefore decides most positions
//! (docs/bounds.md in the repository).

// | module | contents |
// |---|---|
// | `cuts` | the cuts of a frame: codes of scores, bounds of codes |
// | `format` | the bytes of a file: header, network, directory |
// | `reader` | a bound table, and the codes of a frame |
// | `tables` | the bound tables of one rule set and board, opened together |

mod cuts;
pub mod format;
mod reader;
mod tables;

pub use cuts::{Cuts, MAX_CUTS};
pub use reader::{BoundTable, FrameBounds};
pub use tables::BoundTables;
