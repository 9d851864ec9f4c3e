//! Games as text: headers and moves, for one game or many. `docs/games.md` documents the format.

// | module | contents |
// |---|---|
// | `game_record` | a game with its headers |
// | `read` | parsing and checking text |
// | `write` | writing text |
// | `error` | faults of a text, with their lines |

mod error;
mod game_record;
mod read;
mod write;

pub use error::{RecordError, RecordFault};
pub use game_record::GameRecord;
pub use read::{MAX_TEXT, read_game, read_games};
