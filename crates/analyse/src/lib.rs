//! Analyses of the sowing game Kalah: whole boards, as in the tables of the papers, games and puzzles.
//!
//! The crate `kalah` re-exports this as `kalah::analyse`.

// | module | contents |
// |---|---|
// | `complexity` | sizes of game trees, from sampled games |
// | `graph` | all positions that can be reached from a start, counted |
// | `opening` | the winner of a game and in how many turns, on boards with any number of seeds |
// | `puzzle` | positions with one move that keeps the outcome |
// | `move_quality` | quality of a move or turn, by exact values |
// | `review`(review()) | a game, turn by turn, with the loss of each turn; bounds without and with a search |
// | `values` | the values of games, board by board, kept in a file |

pub mod complexity;
pub mod graph;
mod move_quality;
pub mod opening;
mod puzzle;
mod review;
mod values;

pub use move_quality::{MISTAKE_DIFFERENCE, MoveQuality, QualityTally};
pub use puzzle::{Level, MAX_PUZZLE_DEPTH, Puzzle, PuzzleMiner, PuzzleRecord, UnknownLevel};
pub use review::{BoundsSource, Review, ReviewedTurn, review};
pub use values::{GameValue, GameValues};
