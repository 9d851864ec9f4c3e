//! Analyses of the sowing game Kalah: whole boards, as in the tables of the papers, games and puzzles.
//!
//! The crate `kalah` re-exports this as `kalah::analyse`.

// | module | contents |
// |---|---|
// | `bounds_source` | bounds of a position from the rules, the book and tables, else from a solver |
// | `complexity` | sizes of game trees, from sampled games |
// | `graph` | all positions that can be reached from a start, counted |
// | `move_quality` | quality of a move or turn, by exact values |
// | `opening` | the winner of a game and in how many turns, on boards with any number of seeds |
// | `puzzle` | positions with one move that keeps the outcome |
// | `review`(review()) | a game, turn by turn, with the loss of each turn |
// | `values` | the values of games, board by board, kept in a file |

mod bounds_source;
pub mod complexity;
pub mod graph;
mod move_quality;
pub mod opening;
mod puzzle;
mod review;
mod values;

pub use bounds_source::BoundsSource;
pub use move_quality::{MoveQuality, QualityTally, seeds_lost};
pub use puzzle::{Level, MAX_PUZZLE_DEPTH, Puzzle, PuzzleMiner, UnknownLevel};
pub use review::{Review, ReviewedTurn, review};
pub use values::{GameValue, GameValues};
