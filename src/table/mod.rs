//! Tables on disk: one file a layer, exact scores in about 4 bits each, read in place.
//!
//! | room | idea |
//! |---|---|
//! | [`line`](mod@line) | the codec: 126 scores in 64 bytes |
//! | [`frame`](PackedFrame) | a frame of lines: packing, random access, unpacking runs |
//! | [`format`](TableHeader) | the bytes of a file: header, directory, checksums, digest |
//! | [`reader`](Table) | a finished file, memory-mapped |
//! | [`mapping`](report_bus_errors) | the memory of a mapped file, and what to say when the file shrinks |
//! | `checked` | which blocks of it were compared with their checksums |
//! | [`writer`](TableWriter) | a file under way, resumable frame by frame |
//! | [`directory`](Tables) | the layers of one rule set and board, opened together |
//! | [`shelf`](Shelf) | the tables of all boards in a directory, opened when first asked for |
//! | [`lock`](DirectoryLock) | one writer at a time in a directory |
//! | [`pair`](PairKey) | a pair of mirrored frames: what is computed together |
//! | [`piece`](Piece) | a file with one pair, what one of several processes computes |
//! | [`join`](join_pieces) | making a layer's table of its pieces |
//! | [`claim`](Claims) | telling other processes what is being computed |
//! | [`probe`](Probe) | what the tables know of a position |
//! | [`stats`](score_counts) | how often each score occurs |
//! | [`manifest`](Manifest) | what is known of tables without their files |
//! | [`archive`] | seekable zstd archives of tables |
//! | [`error`](TableError) | what can be wrong with a file |

pub mod archive;
mod checked;
mod claim;
mod directory;
mod error;
mod format;
mod frame;
mod join;
pub mod line;
mod lock;
mod manifest;
mod mapping;
mod pair;
mod piece;
mod probe;
mod reader;
mod shelf;
mod stats;
mod writer;

pub use crate::file::LockError;
pub use claim::{Claim, Claims};
pub use directory::{Tables, table_file_name, table_path};
pub use error::{Damage, FileKind, TableError, missing_layers};
pub use format::{BLOCK_BYTES, FrameEntry, TableHeader, TableKey};
pub use frame::{DamagedLine, FrameScores, PackedFrame, RUN_MARGIN};
pub use join::{Joined, LayerFiles, join_pieces, remove_partial, remove_piece, remove_pieces, remove_temporary};
pub use lock::DirectoryLock;
pub use manifest::{Manifest, ManifestEntry};
pub use mapping::report_bus_errors;
pub use pair::PairKey;
pub use piece::{Piece, PieceWriter};
pub use probe::{Probe, ProbeError};
pub use reader::Table;
pub use shelf::{Listing, Shelf};
pub use stats::score_counts;
pub use writer::TableWriter;
