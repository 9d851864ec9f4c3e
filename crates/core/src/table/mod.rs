//! Tables on disk: one file per layer, exact scores in about 4 bits each, read in place.

// | module | contents |
// |---|---|
// | `key` | the identity and file name of a table; pairs of mirrored frames |
// | `directory` | header and directory of all files of a layer |
// | `format` | the bytes of a table file |
// | `group` | the codec: 126 scores in 64 bytes |
// | `frame` | a frame of groups: random access, unpacking runs |
// | `selection` | unpacking selected scores of a run |
// | `reader` | a finished file of a layer; looking up scores and frames of a table |
// | `section` | the bytes of a frame in a file: data, checksums of blocks, marks of those that match |
// | `blocks` | a file of such sections |
// | `filling` | blocks of a file that is not in memory |
// | `tables` | the layers of one rule set and board, opened together |
// | `bounds` | bound tables: 1 or 2 bits a position that state the interval of its score |
// | `probe` | looking up a position: score, moves, line of best play |
// | `all_tables` | the tables of all boards in a directory, opened on first use |
// | `error` | the faults of a file |

mod all_tables;
mod blocks;
mod bounds;
mod directory;
mod error;
mod filling;
pub mod format;
mod frame;
pub mod group;
mod key;
mod probe;
mod reader;
mod section;
mod selection;
mod tables;

pub use all_tables::{AllTables, Listing};
pub use blocks::Blocks;
pub use bounds::format as bound_format;
pub use bounds::{BoundTable, BoundTables, Cuts, FrameBounds, MAX_CUTS};
pub use error::{Damage, TableError, missing_layers};
pub use frame::{DamagedGroup, FrameScores, RUN_MARGIN, ScorePlace};
pub use key::{PairKey, TableKey};
pub use probe::{Probe, ProbeError};
pub use reader::{LayerFile, Table};
pub use section::Section;
pub use selection::SELECTED_MARGIN;
pub use tables::{ComingLayer, Tables, gaps, layers_in};
