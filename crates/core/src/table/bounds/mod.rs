//! Bound tables: one or two bits for each position of a layer, which state in which interval its score lies.
//!
//! The intervals are those between a few *cuts*, which lie at fixed distances from the evaluation of the position by an
//! [evaluation network](crate::evaluation). So most positions are decided by a file half or a quarter as large as the
//! exact table (docs/bounds.md in the repository).
//!
//! | module | what it holds |
//! |---|---|
//! | [`cuts`](Cuts) | what a code says of a score |
//! | [`format`](mod@format) | the bytes of a file: header, network, directory |
//! | [`frame`](FrameBounds) | the codes of a frame |
//! | [`reader`](BoundTable) | a bound table in memory: mapped, or read |
//! | [`tables`](BoundTables) | the bound tables of one rule set and board, opened together |

mod cuts;
pub mod format;
mod frame;
mod reader;
mod tables;

pub use cuts::{Cuts, MAX_CUTS};
pub use frame::FrameBounds;
pub use reader::BoundTable;
pub use tables::BoundTables;
