//! Ranks positions without gaps: rows, frames and layers.
//!
// | module | contents |
// |---|---|
// | `counts` | the number of rows, positions and layers |
// | `row` | rank and unrank of one row: by potential, then lexicographically |
// | `frame` | all positions with `k` seeds in the mover's row and `l` in the other |
// | `layer` | all positions with `N` seeds in play: one frame after another |
// | `rank_set` | a set of ranks of rows |
// | `sequence` | ranks for files of single positions, of any board |
//!
//! The order of ranks refines the dependency order of a layer (see [`RowIndex`]), so rows that can
//! be computed together are adjacent.

mod counts;
mod frame;
mod layer;
mod rank_set;
mod row;
mod sequence;

pub use counts::{MAX_TABLE_PITS, MAX_TABLE_SEEDS, layer_positions, row_count};
pub use frame::Frame;
pub use layer::{LayerIndex, layer_frames};
pub use rank_set::RankSet;
pub use row::{RowIndex, TableRow, game_row, row_seeds, table_row};
pub use sequence::{MAX_RANKED_SEEDS, sequence_position, sequence_rank, sequences};
