//! Exports scores: a layer, or a random sample of it, as text or as an array.
//!
//! The crate `kalah` re-exports it as `export`.
//!
//! | module | contents |
//! |---|---|
//! | [`format`](ExportFormat) | the formats of records |
//! | [`sample`](random_indices) | distinct random positions |
//! | [`layer`](export) | the records of a layer |
//! | `parquet` | a Parquet file, by columns |

mod format;
mod layer;
#[cfg(feature = "parquet")]
mod parquet;
mod sample;

pub use format::ExportFormat;
pub use layer::{Export, ExportError, export};
pub use sample::random_indices;
