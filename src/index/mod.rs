//! Ranking positions without gaps, and what a move does to a whole row of ranks at once.

mod cache;
mod maps;

pub(crate) use cache::Cache;
pub use kalah_core::index::*;
pub use maps::{CaptureMap, RowMaps, SpillMap};
