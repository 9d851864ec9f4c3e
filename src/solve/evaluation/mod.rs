//! Heuristic values: of positions, learned from tables, and of moves, by which they are ordered. They prove nothing.

mod least_squares;
mod move_score;
mod pits;

pub(crate) use move_score::{MoveScore, mover_evaluation, select};
pub(crate) use pits::{PitEvaluation, SEED};
