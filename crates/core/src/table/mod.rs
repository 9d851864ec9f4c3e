//! Tables on disk: one file per layer, exact scores in about 4 bits each, read in place.

// | module | contents |
// |---|---|
// | `key` | the identity and file name of a table; pairs of mirrored frames |
// | `format` | the bytes of a file: header, directory, digest |
// | `group` | the codec: 126 scores in 64 bytes |
// | `frame` | a frame of groups: random access, unpacking runs |
// | `selection` | unpacking selected scores of a run |
// | `layer` | the trait of tables from which scores can be read |
// | `reader` | a finished table in memory: mapped, or read |
// | `read_at` | a finished table read block by block |
// | `mapping` | the memory of a mapped file |
// | `section` | the bytes of a frame in a file: data, checksums of blocks |
// | `blocks` | a file of such sections in memory |
// | `filling` | blocks that such a file gets when they are first read |
// | `source` | where these blocks come from |
// | `checked` | marks of blocks that match their checksums |
// | `copies` | one table in several directories |
// | `present` | the layers of a board in a directory, and the gaps below them |
// | `tables` | the layers of one rule set and board, opened together |
// | `bounds` | bound tables: 1 or 2 bits a position that state the interval of its score |
// | `probe` | looking up a position: score, moves, line of best play |
// | `shelf` | the tables of all boards in a directory, opened on first use |
// | `error` | the faults of a file |

mod blocks;
pub mod bounds;
mod checked;
mod copies;
mod error;
mod filling;
pub mod format;
mod frame;
pub mod group;
mod key;
mod layer;
mod mapping;
mod present;
mod probe;
mod read_at;
mod reader;
mod section;
mod selection;
mod shelf;
mod source;
mod tables;

pub use crate::address::source_address;
pub use crate::directories::Directories;
pub use blocks::Blocks;
pub use bounds::{BoundTable, BoundTables, Cuts, FrameBounds};
pub use error::{Damage, FileKind, TableError, TablePart, missing_layers};
pub use format::{BLOCK_BYTES, FrameEntry, TableHeader};
pub use frame::{DamagedGroup, FrameScores, RUN_MARGIN, ScorePlace};
pub use key::{PairKey, TableKey};
pub use layer::{Layer, TablePositions};
pub use mapping::{MappingWatch, WatchMapping, map_files};
pub use present::PresentLayers;
pub use probe::{Probe, ProbeError};
pub use read_at::{ReadAt, ReadAtTable};
pub use reader::Table;
pub use section::Section;
pub use selection::SELECTED_MARGIN;
pub use shelf::{Listing, Shelf};
pub use source::{BlockSource, fill_directory, leave_directory};
pub use tables::Tables;
