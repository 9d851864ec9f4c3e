//! The players of Pekař, Matušů, Andrla and Litschmannová 2020: "Review of Kalah Game Research and the Proposition of a
//! Novel Heuristic-Deterministic Algorithm Compared to Tree-Search Solutions and Human Decision-Making", Informatics
//! 7:34.
//!
//! The paper leaves points open or contradicts itself. These are our choices, which `tests/play/players.rs` checks:
//!
//! - Pit 1 of the paper, next to the store, is the last move here.
//! - LastSeedToKalaha: a whole lap counts, so 14 seeds in pit 1 end in the store.
//! - LastSeedToTarget: of equal captures the first found, from pit 1. "Lands into i" means directly. 13 seeds are
//!   2m + 1 on other boards.
//! - OpponentSeedToStash: LastSeedToTarget for the opponent; sows the pit opposite to the target, unless it is empty.
//! - Algorithm 2, line 31: `beta <= alpha`; the printed `beta >= alpha` cuts after the first reply. A level is a turn,
//!   from 0 at the root. The first of equal moves stays, from pit 1.
//! - Evaluation (4): for the player at the root, and that player's repeated moves. Seeds left at the end count as
//!   stored. Algorithms 2 and 3 evaluate after 256 moves.
//! - Algorithm 3 returns the value of the board reached; captures are evaluated at once. At the root it plays safe
//!   moves unsearched.
//! - LastSeedToTargetSimple: of several targets the last found, farthest from the store.

// | module | contents |
// |---|---|
// | `heuristic` | Algorithm 1 and its four functions |
// | `minimax` | Algorithms 2 and 3, with the evaluation (4) |

mod heuristic;
mod minimax;

pub(super) use heuristic::Heuristic;
pub(super) use minimax::Minimax;
