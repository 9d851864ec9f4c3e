//! Ranks positions without gaps: rows, frames and layers.
//!
// | module | contents |
// |---|---|
// | `row` | rank and unrank of one row: by potential, then lexicographically; those of the positions of a layer |
// | `frame` | all positions with `k` seeds in the mover's row and `l` in the other; numbers of rows and positions |
// | `rank_set` | a set of ranks of rows |
// | `sequence` | ranks for files of single positions, of any board |
//!
//! The order of ranks refines the dependency order of a layer (see [`RowIndex`]), so rows that can
//! be computed together are adjacent.

mod frame;
mod rank_set;
mod row;
mod sequence;

pub use frame::{Frame, MAX_TABLE_PITS, MAX_TABLE_SEEDS, layer_frames, layer_positions, row_count};
pub use rank_set::RankSet;
pub use row::{LayerIndex, RowIndex, TableRow, game_row, row_seeds, table_row};
pub use sequence::{MAX_RANKED_SEEDS, sequence_position, sequence_rank, sequences};
