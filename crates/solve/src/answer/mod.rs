//! Answers as JSON documents: those of `kalah probe --json` and `kalah solve --json`, which other
//! interfaces of the engine give too.

// | module | contents |
// |---|---|
// | `probe` | the tables' answer for a position |
// | `book` | the book's answer for a position |
// | `solve` | the answer of a search |

mod book;
mod probe;
mod solve;

pub use book::{BookAnswer, BookMove, Known};
pub use probe::{MoveScore, ProbeAnswer};
pub use solve::{OpeningAnswer, SolveAnswer};
