//! Answers as JSON documents: those of `kalah solve --json`, and of `kalah probe --json` from the
//! book, which other interfaces of the engine give too. That of the tables is a
//! [`Probe`](kalah_core::table::Probe).

// | module | contents |
// |---|---|
// | `book` | the book's answer for a position |
// | `solve` | the answer of a search |

mod book;
mod solve;

pub use book::{BookAnswer, BookMove, Known};
pub use solve::{OpeningAnswer, SolveAnswer};
