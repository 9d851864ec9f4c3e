//! Tables that tests only read, built once in a test program.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use kalah_core::game::Rules;
use kalah_core::index::Frame;
use kalah_core::table::{Table, Tables};
use kalah_tables::builder::build;

/// A rule set, the pits a side, and the most seeds of its tables.
pub type Built = (Rules, usize, usize);

/// Directory of the tables of these boards.
pub fn built(boards: &[Built]) -> &'static Path {
    static DIRECTORIES: Mutex<Vec<(Vec<Built>, &'static Path)>> = Mutex::new(Vec::new());
    let mut directories = DIRECTORIES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, directory)) = directories.iter().find(|(others, _)| others == boards) {
        return directory;
    }
    let directory = tempfile::tempdir().expect("a directory");
    for &(rules, pits, seeds) in boards {
        build(directory.path(), rules, pits, seeds).expect("tables are built");
    }
    // The directory is kept as long as the program runs.
    let directory: &'static Path = Box::leak(directory.keep().into_boxed_path());
    directories.push((boards.to_vec(), directory));
    directory
}

/// The tables of one board to this number of seeds.
pub fn opened(rules: Rules, pits: usize, seeds: usize) -> Tables {
    Tables::open(built(&[(rules, pits, seeds)]), rules, pits, seeds).expect("tables were built")
}

/// All scores of a frame of a table.
pub fn scores(table: &Table, frame: Frame) -> Vec<u8> {
    let stored = table.frame(frame.mover).expect("the table is sound");
    let score = |(mover, other)| stored.score(mover, other).expect("the table is sound");
    (0..frame.positions()).map(|index| score(frame.ranks(index))).collect()
}
