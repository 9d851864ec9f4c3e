//! Rules of the repository: documents and packages.

mod commands;
mod documentation;
mod format_page;
mod packaging;
mod python_reader;
mod rules_in_one_place;
mod words;
