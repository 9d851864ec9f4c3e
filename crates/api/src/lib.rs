//! Answers about positions, lines of play, games and puzzles, as JSON documents.
//!
//! Servers send these documents, and a page without a server gets them from the same code. `docs/api.md` describes
//! requests and documents for their users. A request is read first; what its answer needs then, the caller decides:
//! most come [at once](Sources), others from a [search](Searcher), which yields after each slice.

// | module | contents |
// |---|---|
// | `position` | a position, its moves, and searches of them |
// | `positions` | many positions in one request |
// | `choose` | the move of a player |
// | `line` | the positions on a line of play |
// | `game` | whole games: every position and move |
// | `texts` | games as text |
// | `puzzle`, `day` | puzzles, including the puzzle of the day |
// | `sources` | tables and books: answers without a search |
// | `searcher` | searches, and their proved results |
// | `analyser`, `stores` | one search: by a solver, or by the stores on boards too large for it |
// | `analysis` | its results |
// | `answer` | the JSON documents |
// | `hex` | bytes in hexadecimal |
// | `fields` | the fields of a request, and their errors |
// | `error` | errors: status, code, message |

mod analyser;
mod analysis;
mod answer;
mod choose;
pub mod day;
mod error;
mod fields;
mod game;
mod hex;
mod line;
mod position;
mod positions;
mod puzzle;
mod searcher;
mod server;
mod sources;
mod stores;
mod texts;

pub use analyser::pause;
pub use answer::{
    ChosenMove, ExplorerAnswer, LineAnswer, MoveAnswer, PositionAnswer, SearchAnswer, ServerAnswer, TablesAnswer,
};
pub use choose::{MoveRequest, choose_without_tables};
pub use error::{ApiError, MAX_BYTES, MAX_HEAD, MAX_HEADERS};
pub use game::{GameAnswer, GameRequest, PlaceEvent};
pub use hex::hex;
pub use line::{follow_line, follow_moves};
pub use position::{PositionRequest, SlicedSearch};
pub use positions::{MAX_POSITIONS_BYTES, PositionsAnswer, PositionsRequest};
pub use puzzle::{PuzzleAnswer, PuzzleKey, PuzzleRequest, PuzzleSearch};
pub use searcher::{SearchOptions, Searcher};
pub use server::{PAGE_STREAM_TIME, PAGE_TIME};
pub use sources::Sources;
pub use stores::evaluate_without_tables;
pub use texts::{ReadAnswer, WriteAnswer, read_text, write_text};
