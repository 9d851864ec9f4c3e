//! Analyses of whole boards, such as those in the tables of the papers.
//!
//! | module | contents |
//! |---|---|
//! | [`book`] | the positions of the first turns solved, kept in a book |
//! | [`complexity`] | how large game trees are, from sampled games |
//! | [`graph`] | all positions that can be reached from a start, counted |
//! | [`judgement`](Judgement) | quality of a move or turn, by exact values |
//! | [`knowledge`](Knowledge) | bounds of a position from the rules, the book and tables, else from a solver |
//! | [`opening`] | the winner of a game and in how many turns, on boards with any number of seeds |
//! | [`puzzle`](Puzzle) | positions with one move that keeps the outcome |
//! | [`review`](review()) | a game, turn by turn, with the loss of each turn |
//! | [`values`](GameValues) | the values of games, board by board, kept in a file |

pub mod book;
pub mod complexity;
pub mod graph;
mod judgement;
mod knowledge;
pub mod opening;
mod puzzle;
mod review;
mod values;

pub use judgement::{Judgement, MISTAKE_DIFFERENCE, Tally};
pub use knowledge::{Knowledge, KnowledgeError};
pub use puzzle::{Level, MAX_PUZZLE_DEPTH, Puzzle, PuzzleMiner, PuzzleRecord, UnknownLevel};
pub use review::{Review, ReviewError, ReviewedTurn, review};
pub use values::{GameValue, GameValues};
