//! Ranking positions without gaps: rows, frames and layers.
//!
//! | module | what it holds |
//! |---|---|
//! | [`counts`](row_count) | how many rows, positions and layers there are |
//! | [`row`](RowIndex) | rank and unrank of one row: by potential, then lexicographically |
//! | [`frame`](Frame) | all positions with the mover holding `k` seeds and the other side `l` |
//! | [`layer`](LayerIndex) | all positions with `N` seeds in play: the frames, one after the other |
//! | [`rank_set`](RankSet) | a set of ranks of rows |
//! | [`sequence`](sequence_rank) | ranks for files of single positions, of any board |
//!
//! The order of ranks refines the dependency order of a layer (see [`RowIndex`]), so rows that can be computed together
//! are adjacent.

mod counts;
mod frame;
mod layer;
mod rank_set;
mod row;
mod sequence;

pub use counts::{MAX_TABLE_PITS, MAX_TABLE_SEEDS, cumulative_positions, layer_positions, row_count};
pub use frame::Frame;
pub use layer::LayerIndex;
pub use rank_set::RankSet;
pub use row::{RowIndex, TableRow, game_row, table_row};
pub use sequence::{MAX_RANKED_SEEDS, sequence_position, sequence_rank, sequences};
