//! The transposition table: bounds of positions already searched.

// | module | contents |
// |---|---|
// | `table` | entries, read and written without locks |
// | `file` | a table saved for later runs; a module for browsers has no need of it |

#[cfg(not(target_family = "wasm"))]
pub(crate) mod file;
mod table;

pub(crate) use table::{EntryLocation, TranspositionTable};
