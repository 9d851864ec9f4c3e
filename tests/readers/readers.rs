//! Files of this project as other projects' readers find them: Rust sources, shaders, and Parquet files.

mod parquet_files;
mod shaders;
mod structure;

/// The root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
