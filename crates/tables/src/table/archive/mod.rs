//! Archives of tables, for storage and download: lossless, and about half the size of
//! a table.
//!
//! The scores of a frame, in lexicographic order, are predicted from neighbours. The differences
//! are entropy-coded. docs/archive.md describes the format in full.

// | module | contents |
// |---|---|
// | `compress`(compress()) | a table to an archive |
// | `decompress`(decompress()) | an archive to a table, and its frames one by one |
// | `order` | rows in lexicographic order, their parents, and the division of a frame into chunks |
// | `chunk` | predicting scores; scores to symbols to a zstd frame, and back |
// | `container` | the directory and description of an archive, and the chunks of a frame |

mod chunk;
mod compress;
mod container;
mod decompress;
mod order;

pub use compress::{compress, compress_in_chunks, compress_memory, is_compressed};
pub use container::{ArchiveEntry, ArchiveInfo, CHUNK_SIDE, archive_path, read_info};
pub use decompress::{check, decompress, decompress_memory};
