//! Stands for `file` where there are no files: a module for browsers has no need of a compressor.

use std::io::{self, BufRead, Write};

use super::table::TranspositionTable;
use crate::solve::packed::Word;

/// Fails.
pub(crate) fn save<W: Word>(_: &TranspositionTable<W>, _: &mut dyn Write) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Fails.
pub(crate) fn load<W: Word>(_: &mut TranspositionTable<W>, _: usize, _: &mut dyn BufRead) -> Result<u64, &'static str> {
    Err("it cannot be read here")
}
