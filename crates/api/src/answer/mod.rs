//! Answers as JSON documents: those of the commands' `--json`, of the server, and of the WebAssembly module.

// | module | contents |
// |---|---|
// | `value` | a value, proved bounds of it, or an evaluation |
// | `position` | a position and its moves, and what a search found of them |
// | `play` | the move of a player, the positions on a line of play, a puzzle |
// | `solve` | the answer of a search that proves a value |
// | `server` | the server, its tables and books |

mod play;
mod position;
mod server;
mod solve;
mod value;

pub(crate) use play::PlaceAnswer;
pub use play::{ChosenMove, LineAnswer, MoveAnswer, PuzzleAnswer};
pub(crate) use position::Analysis;
pub use position::{Ended, ExplorerAnswer, MoveEffects, PositionAnswer, SearchAnswer, Source};
pub use server::{PAGE_STREAM_TIME, PAGE_TIME, ServerAnswer, TableEntry, TablesAnswer};
pub use solve::{OpeningAnswer, SolveAnswer};
pub use value::Value;
