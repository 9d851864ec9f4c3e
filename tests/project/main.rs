//! Rules of the repository: documents and packages.

mod commands;
mod documentation;
mod format_page;
mod packaging;
mod python_reader;
mod rules_in_one_place;
mod words;

use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Text of a file of the repository.
fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}
