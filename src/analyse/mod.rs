//! Whole boards: the tables of the papers, computed.
//!
//! | module | what it holds |
//! |---|---|
//! | [`book`] | the positions of the first turns solved, kept in a book |
//! | [`complexity`] | how large game trees are, from sampled games |
//! | [`graph`] | all positions that can be reached from a start, counted |
//! | [`opening`] | who wins how soon, turn by turn, on boards with any number of seeds |
//! | [`puzzle`](Puzzle) | positions with one move that keeps the outcome |
//! | [`values`](GameValues) | the values of games, board by board, kept in a file |

pub mod book;
pub mod complexity;
pub mod graph;
pub mod opening;
mod puzzle;
mod values;

pub use puzzle::{Level, MAX_PUZZLE_DEPTH, Puzzle, PuzzleMiner, PuzzleRecord, UnknownLevel};
pub use values::{GameValue, GameValues, GameValuesError};
