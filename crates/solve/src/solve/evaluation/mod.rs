//! Heuristic values of positions, learned from tables, and of moves, for move ordering. They prove nothing.

// | module | contents |
// |---|---|
// | `static_evaluation` | the evaluation that a solver uses: a network, or terms for pits |
// | `pits` | terms for the seeds of each pit, learned when a solver is made |
// | `move_score` | move-ordering scores |

mod move_score;
mod pits;
mod static_evaluation;

pub(crate) use move_score::{MoveScore, mover_evaluation, select};
pub(crate) use static_evaluation::StaticEvaluation;

pub(crate) use kalah_core::evaluation::SEED;
