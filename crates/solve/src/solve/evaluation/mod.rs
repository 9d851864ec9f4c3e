//! Heuristic values of positions, learned from tables, and of moves, for move ordering. They prove nothing.

// | module | contents |
// |---|---|
// | `static_evaluation` | the evaluation that a solver uses: a network, or terms for pits, learned when it is made |
// | `move_score` | move-ordering scores; the order of a position's moves outside the search |

mod move_score;
mod static_evaluation;

pub(crate) use move_score::{MoveScore, in_order, mover_evaluation, select};
pub(crate) use static_evaluation::StaticEvaluation;

pub(crate) use kalah_core::evaluation::SEED;
