//! Stands for `file` where there are no files: a module for browsers has no need of a compressor.

use std::io::{self, BufRead, Write};

use kalah_core::game::Rules;

use super::table::TranspositionTable;
use crate::solve::packed::Word;

/// The boards of a table.
#[allow(dead_code, reason = "they are written to files only")]
pub(crate) struct Head {
    pub rules: Rules,
    pub pits: usize,
    /// The most seeds in play.
    pub seeds: usize,
}

/// Fails.
pub(crate) fn save<W: Word>(_: &TranspositionTable<W>, _: Head, _: &mut dyn Write) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Fails.
pub(crate) fn load<W: Word>(_: &mut TranspositionTable<W>, _: Head, _: &mut dyn BufRead) -> Result<u64, &'static str> {
    Err("it cannot be read here")
}
