//! The players of Pekař, Matušů, Andrla and Litschmannová 2020: "Review of Kalah Game Research and the Proposition of a
//! Novel Heuristic-Deterministic Algorithm Compared to Tree-Search Solutions and Human Decision-Making", Informatics
//! 7:34.
//!
//! `docs/players.md` states our choices for points that the paper leaves open; `tests/play/players.rs` checks
//! them.

// | module | contents |
// |---|---|
// | `heuristic` | Algorithm 1 and its four functions |
// | `minimax` | Algorithms 2 and 3, with the evaluation (4) |

mod heuristic;
mod minimax;

pub(super) use heuristic::Heuristic;
pub(super) use minimax::Minimax;
