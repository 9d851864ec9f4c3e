//! The transposition table: bounds of positions that were searched before.

mod file;
mod size;
mod table;

pub(crate) use file::{Head, load, save};
pub(crate) use size::{most_bytes, real_bytes, table_bytes};
pub(crate) use table::{Slot, TranspositionTable};
