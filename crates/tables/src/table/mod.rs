//! Tables on disk: writing, packing, checking and counting on all threads. [`kalah_core::table`] reads them.

// | module | contents |
// |---|---|
// | `packed_frame` | packing a frame |
// | `digest` | checksums and digests of frames, on all threads |
// | `bounds` | making bound tables from exact ones |
// | `check` | comparing tables with their checksums, and counting scores, on all threads |
// | `contents` | the frames of a file that is being written; a file in memory |
// | `writer` | writing a file frame by frame, resumable |
// | `piece` | a file with one pair of frames, computed by one of several processes |
// | `join` | joining the pieces of a layer to its table |
// | `lease` | one writer at a time in a directory; showing other processes what is being computed |
// | `stamp` | tables already compared with their checksums |
// | `manifest` | a list of tables with their digests |
// | `archive` | compressed tables |

pub mod archive;
mod bounds;
mod check;
mod contents;
mod digest;
mod join;
mod lease;
mod manifest;
mod packed_frame;
mod piece;
mod stamp;
mod writer;

pub use bounds::BoundMaker;
pub(crate) use bounds::{FrameCodes, frame_codes};
pub use check::{check_in_parallel, frame_in_parallel, score_counts};
pub use contents::TableImage;
pub(crate) use join::{Joined, join_pieces, remove_partial, remove_pieces};
pub use join::{LayerFiles, PieceWriter};
pub(crate) use lease::unless_other;
pub use lease::{DirectoryLock, Lease, Leases};
pub use manifest::{Manifest, ManifestEntry};
pub use packed_frame::{FrameMemory, PackedFrame};
pub use piece::Piece;
pub use stamp::{Stamps, user_cache};
pub use writer::TableWriter;
