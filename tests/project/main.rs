//! Rules of the repository: documents, packages, structure of the sources.

mod commands;
mod documentation;
mod format_page;
#[path = "../optional/mod.rs"]
mod optional;
mod packaging;
mod python_reader;
mod rules_in_one_place;
mod structure;
mod words;
