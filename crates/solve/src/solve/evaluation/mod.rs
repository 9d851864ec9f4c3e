//! Heuristic values of positions, learned from tables, and of moves, for move ordering. They prove nothing.

mod least_squares;
mod move_score;
mod pits;
mod static_evaluation;

pub(crate) use move_score::{MoveScore, mover_evaluation, select};
pub(crate) use static_evaluation::StaticEvaluation;

pub(crate) use kalah_core::evaluation::SEED;
