//! Tables on disk: what [`kalah_core::table`] reads, and here is written, packed and counted, on all threads.
//!
//! | module | what it holds |
//! |---|---|
//! | [`packed_frame`](PackedFrame) | packing a frame |
//! | [`check`](check_blocks) | comparing tables with their checksums on all threads |
//! | [`writer`](TableWriter) | a file under way, resumable frame by frame |
//! | [`lock`](DirectoryLock) | one writer at a time in a directory |
//! | [`piece`](Piece) | a file with one pair, what one of several processes computes |
//! | [`join`](join_pieces) | making a layer's table of its pieces |
//! | [`claim`](Claims) | telling other processes what is being computed |
//! | [`stats`](score_counts) | how often each score occurs |
//! | [`manifest`](Manifest) | what is known of tables without their files |
//! | [`archive`] | seekable zstd archives of tables |

pub mod archive;
mod check;
mod claim;
mod join;
mod lock;
mod manifest;
mod packed_frame;
mod piece;
mod stats;
mod writer;

pub use kalah_core::table::*;

pub use crate::file::LockError;
pub use check::{check_blocks, checked_frame};
pub use claim::{Claim, Claims};
pub use join::{Joined, LayerFiles, join_pieces, remove_partial, remove_piece, remove_pieces, remove_temporary};
pub use lock::DirectoryLock;
pub use manifest::{Manifest, ManifestEntry};
pub use packed_frame::PackedFrame;
pub use piece::{Piece, PieceWriter};
pub use stats::score_counts;
pub use writer::TableWriter;
