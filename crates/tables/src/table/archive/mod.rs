//! Seekable zstd archives of tables, for storage and download: lossless, and about half the size of
//! a table.
//!
//! The scores of a frame, in lexicographic order, are predicted from neighbours. The differences
//! are entropy-coded. docs/archive.md describes the format in full.

// | module | contents |
// |---|---|
// | `info` | the description and path of an archive |
// | `pack`(pack()) | a table to an archive |
// | `unpack`(unpack()) | an archive to a table |
// | `writer` | an archive, written frame by frame |
// | `reader` | single frames of an archive |
// | `order` | rows in lexicographic order, their parents, and the division of a frame into chunks |
// | `predict` | predicting scores |
// | `chunk` | scores to symbols to a zstd frame, and back |
// | `container` | header, checksums and seek table |

mod chunk;
mod container;
mod info;
mod order;
mod pack;
mod predict;
mod reader;
mod unpack;
mod writer;

pub use container::read_info;
pub use info::{ArchiveInfo, CHUNK_SIDE, CHUNK_SIDES, archive_path};
pub(crate) use pack::write_memory;
pub use pack::{is_packed, pack, pack_in_chunks, pack_memory};
pub(crate) use reader::ArchiveReader;
pub(crate) use unpack::unpack_frame_memory;
pub use unpack::{check, unpack, unpack_memory};
pub(crate) use writer::{ArchiveWriter, remove_unfinished};
