//! Tables on disk: writing, packing, checking and counting on all threads. [`kalah_core::table`] reads them.

// | module | contents |
// |---|---|
// | `packed_frame` | packing a frame |
// | `bounds` | making bound tables from exact ones |
// | `check` | comparing tables with their checksums on all threads |
// | `contents` | the frames of a file that is being written; a file in memory |
// | `writer` | writing a file frame by frame, resumable |
// | `digest` | checksums and digests of frames on all threads |
// | `layer_file` | reading the frames of a piece or an archive one after another |
// | `piece` | a file with one pair of frames, computed by one of several processes |
// | `join` | joining the pieces of a layer to its table |
// | `lease` | showing other processes what is being computed |
// | `occupied` | one writer at a time in a directory; files that must not be replaced by another table |
// | `stamp` | tables already compared with their checksums on this machine |
// | `stats` | the number of occurrences of each score |
// | `manifest` | a list of tables with their digests |
// | `archive` | compressed tables |

pub mod archive;
mod bounds;
mod check;
mod contents;
mod digest;
mod join;
mod layer_file;
mod lease;
mod manifest;
mod occupied;
mod packed_frame;
mod piece;
mod stamp;
mod stats;
mod writer;

pub use bounds::{BoundMaker, FrameCodes, frame_codes};
pub use check::{check_in_parallel, frame_in_parallel};
pub use contents::TableImage;
pub use join::{
    Joined, LayerFiles, PieceWriter, join_pieces, remove_partial, remove_piece, remove_pieces, remove_temporary,
};
pub use lease::{Lease, Leases};
pub use manifest::{Manifest, ManifestEntry};
pub use occupied::{DirectoryLock, unless_other};
pub use packed_frame::{FrameMemory, PackedFrame};
pub use piece::Piece;
pub use stamp::Stamps;
pub use stats::score_counts;
pub use writer::{CompleteTable, TableWriter};
