//! Positions in the form that the search uses: rows packed into words, sown with a look-up table, numbered without
//! gaps.

// | module | contents |
// |---|---|
// | `word` | the integers that hold a row, a key or an entry |
// | `board` | a position as two words, and sowing it |
// | `keys` | numbers of rows and positions |

mod board;
mod keys;
mod word;

pub use board::{Board, Sower, Sown};
pub use keys::BoardKeys;
pub(crate) use word::MoveList;
pub use word::Word;

pub(crate) use word::MAX_BOARD_SEEDS;
