//! Tables on disk: everything in [`kalah_core::table`], and writing, packing, checking and counting
//! on all threads.

// | module | contents |
// |---|---|
// | `packed_frame` | packing a frame |
// | `bounds` | making bound tables from exact ones |
// | `check` | comparing tables with their checksums on all threads |
// | `writer` | writing a file frame by frame, resumable |
// | `image` | writing a file in memory |
// | `digest` | hashes of frames on all threads |
// | `lock` | one writer at a time in a directory |
// | `piece` | a file with one pair of frames, computed by one of several processes |
// | `join` | joining the pieces of a layer to its table |
// | `lease` | showing other processes what is being computed |
// | `occupied` | files that must not be replaced by another table |
// | `stamp` | tables already compared with their checksums on this machine |
// | `stats` | the number of occurrences of each score |
// | `manifest` | a list of tables with their digests |
// | `archive` | seekable zstd archives of tables |

pub mod archive;
mod bounds;
mod check;
mod digest;
mod image;
mod join;
mod lease;
mod lock;
mod manifest;
mod occupied;
mod packed_frame;
mod piece;
mod stamp;
mod stats;
mod writer;

pub use kalah_core::table::{
    BLOCK_BYTES, BlockSource, Blocks, BoundTable, BoundTables, Cuts, Damage, DamagedGroup, Directories, FileKind,
    FrameBounds, FrameEntry, FrameScores, Layer, Listing, MappingWatch, PairKey, PresentLayers, Probe, ProbeError,
    RUN_MARGIN, ReadAt, ReadAtTable, SELECTED_MARGIN, ScorePlace, Section, Shelf, Table, TableError, TableHeader,
    TableKey, TablePart, TablePositions, Tables, WatchMapping, fill_directory, format, group, leave_directory,
    map_files, missing_layers, source_address,
};

pub use kalah_core::table::bounds::format as bound_format;

pub use crate::file::LockError;
pub use bounds::{BoundMaker, FrameCodes, frame_codes};
pub use check::{check_in_parallel, frame_in_parallel};
pub use image::TableImage;
pub use join::{Joined, LayerFiles, join_pieces, remove_partial, remove_piece, remove_pieces, remove_temporary};
pub use lease::{Lease, Leases};
pub use lock::DirectoryLock;
pub use manifest::{Manifest, ManifestEntry};
pub use occupied::unless_other;
pub use packed_frame::PackedFrame;
pub use piece::{Piece, PieceWriter};
pub use stamp::{FileState, Stamps};
pub use stats::score_counts;
pub use writer::{CompleteTable, TableWriter};
