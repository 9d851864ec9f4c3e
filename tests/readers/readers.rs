//! Files of this project as other projects' readers find them: Rust sources, and Parquet files.

mod parquet_files;
mod structure;

/// The root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
