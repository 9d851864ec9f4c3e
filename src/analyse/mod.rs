//! Whole boards: the tables of the papers, computed.
//!
//! | module | what it holds |
//! |---|---|
//! | [`book`] | the positions of the first turns solved, kept in a book |
//! | [`complexity`] | how large game trees are, from sampled games |
//! | [`graph`] | all positions that can be reached from a start, counted |
//! | [`opening`] | who wins how soon, turn by turn, on boards with any number of seeds |
//! | [`values`](GameValues) | the values of games, board by board, kept in a file |

pub mod book;
pub mod complexity;
pub mod graph;
pub mod opening;
mod values;

pub use values::{GameValue, GameValues, GameValuesError};
