//! Exports scores: a layer, or a random sample of it, as text or as an array.
//!
//! The crate `kalah` re-exports it as `export`.

// | module | contents |
// |---|---|
// | `format` | the formats of records |
// | `sample` | distinct random positions |
// | `layer` | the records of a layer |
// | `parquet` | a Parquet file, by columns |

mod format;
mod layer;
#[cfg(feature = "parquet")]
mod parquet;
mod sample;

pub use format::ExportFormat;
pub use layer::{Export, ExportError, export};
pub use sample::random_indices;
