//! Positions as a search has them: rows packed into words, sown by table, numbered without gaps.

mod board;
mod keys;
mod word;

pub use board::{Board, Sower, Sown};
pub use keys::Keys;
pub use word::{MAX_BOARD_SEEDS, Moves, Word};
