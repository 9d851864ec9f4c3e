//! Answers about positions, lines of play, games and puzzles, as JSON documents.
//!
//! Servers send these documents, and a page without a server gets them from the same code. `docs/api.md` describes
//! requests and documents for their users. A request is read first; what its answer needs then, the caller decides:
//! most come [at once](Sources), others from a [search](Searcher), which yields after each slice.

// | module | contents |
// |---|---|
// | `position` | a position, its moves, and searches of them; many positions in one request |
// | `choose` | the move of a player |
// | `game` | whole games: every position and move; the positions on a line of play |
// | `texts` | games as text |
// | `puzzle` | puzzles, including the puzzle of the day |
// | `searcher` | tables and books, searches in them, and proved results |
// | `analyser` | one search: by a solver, or by the stores on boards too large for it |
// | `answer` | the JSON documents |
// | `fields` | the fields of a request, and their errors |
// | `error` | errors: code, status, message |
// | `description` | a test that describes the answers to other languages |

mod analyser;
pub mod answer;
mod choose;
#[cfg(test)]
#[path = "../tests/description/mod.rs"]
mod description;
mod error;
mod fields;
mod game;
mod position;
mod puzzle;
mod searcher;
mod texts;

pub use analyser::{evaluate_without_tables, pause};
pub use choose::{MoveRequest, choose_without_tables};
pub use error::{ApiError, Code, ErrorAnswer};
pub use fields::read_query;
pub use game::{GameAnswer, GamePlace, GameRequest, follow_line, follow_moves};
pub use position::{PositionRequest, PositionsAnswer, PositionsRequest};
pub use puzzle::PuzzleRequest;
pub use searcher::{Search, Searcher, Sources};
pub use texts::{ReadAnswer, WriteAnswer, read_text, write_text};
