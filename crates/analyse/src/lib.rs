//! Analyses of the sowing game Kalah: whole boards, as in the tables of the papers, games and puzzles.
//!
//! The crate `kalah` re-exports this as `kalah::analyse`.

// | module | contents |
// |---|---|
// | `complexity` | sizes of game trees, from sampled games |
// | `graph` | all positions that can be reached from a start, counted |
// | `opening` | the winner of a game and in how many turns, on boards with any number of seeds |
// | `puzzle` | positions with one move that keeps the outcome |
// | `review`(review()) | quality of moves by exact values or bounds; a game, turn by turn |
// | `values` | the values of games, board by board, kept in a file |

pub mod complexity;
pub mod graph;
pub mod opening;
mod puzzle;
mod review;
mod values;

pub use puzzle::{Level, Puzzle, PuzzleMiner};
pub use review::{BoundsSource, MoveQuality, QualityTally, Review, ReviewedTurn, review, seeds_lost};
pub use values::{GameValue, GameValues};
