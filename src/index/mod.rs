//! Ranking positions without gaps: rows, frames and layers.
//!
//! | room | idea |
//! |---|---|
//! | [`counts`](row_count) | how many rows, positions and layers there are |
//! | [`row`](RowIndex) | rank and unrank of one row: by potential, then lexicographically |
//! | [`frame`](Frame) | all positions with the mover holding `k` seeds and the other side `l` |
//! | [`layer`](LayerIndex) | all positions with `N` seeds in play: the frames, one after the other |
//! | [`maps`](RowMaps) | what a move does to a whole row of ranks at once |
//!
//! The order of ranks refines the dependency order of a layer (see [`RowIndex`]), so the rows that can be computed
//! together lie together.

mod cache;
mod counts;
mod frame;
mod layer;
mod maps;
mod row;

pub(crate) use cache::Cache;
pub use counts::{MAX_TABLE_PITS, MAX_TABLE_SEEDS, cumulative_positions, layer_positions, row_count};
pub use frame::Frame;
pub use layer::LayerIndex;
pub use maps::{CaptureMap, RowMaps, SpillMap};
pub use row::{RowIndex, TableRow, game_row, table_row};
