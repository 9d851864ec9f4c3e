//! Whole boards: the tables of the papers, computed.
//!
//! | module | what it holds |
//! |---|---|
//! | [`book`] | the positions of the first turns solved, kept in a book |
//! | [`complexity`] | how large game trees are, from sampled games |
//! | [`graph`] | all positions that can be reached from a start, counted |
//! | [`judgement`](Judgement) | how good a move or turn is, by exact values |
//! | [`knowledge`](Knowledge) | what the rules, the book and tables know of a position, else a solver |
//! | [`opening`] | who wins how soon, turn by turn, on boards with any number of seeds |
//! | [`puzzle`](Puzzle) | positions with one move that keeps the outcome |
//! | [`review`](review()) | a game, turn by turn: what each lost |
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
