//! The transposition table: bounds of positions already searched.

// | module | contents |
// |---|---|
// | `table` | entries, read and written without locks |
// | `size` | a size that suits a board |
// | `file` | a table saved for later runs |
// | `no_file` | the same where there are no files |

#[cfg(not(target_family = "wasm"))]
mod file;
#[cfg(target_family = "wasm")]
mod no_file;
mod size;
mod table;

#[cfg(not(target_family = "wasm"))]
pub(crate) use file::{load, save};
#[cfg(target_family = "wasm")]
pub(crate) use no_file::{load, save};
pub(crate) use size::{most_bytes, rounded_bytes, table_bytes};
pub(crate) use table::{EntryLocation, TranspositionTable};
