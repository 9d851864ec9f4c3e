//! The transposition table: bounds of positions already searched.
//!
//! | module | contents |
//! |---|---|
//! | `table` | entries, read and written without locks |
//! | `size` | a size that suits a board |
//! | `file` | a table saved for later runs |

mod file;
mod size;
mod table;

pub(crate) use file::{Head, load, save};
pub(crate) use size::{most_bytes, rounded_bytes, table_bytes};
pub(crate) use table::{Slot, TranspositionTable};
