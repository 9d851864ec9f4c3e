//! Exports scores: a layer, or a random sample of it, as text or as an array.
//!
//! The crate `kalah` re-exports it as `export`.

// | module | contents |
// |---|---|
// | `format` | the formats of records |
// | `parquet` | Parquet files |
// | `layer` | the records of a layer, or of a sample |

mod format;
mod layer;
#[cfg(feature = "parquet")]
mod parquet;

pub use format::ExportFormat;
pub use layer::{Export, ExportError, export, random_indices};
