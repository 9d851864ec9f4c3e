//! The scores of one pair of mirrored frames, on all cores.
//!
//! The effect of a move on the mover's row depends on that row alone (see [`crate::rows`]). So the
//! unit of work is one mover's row against *all* other rows. Each of its moves is played once, and
//! then reads one run of a lower table through a map of ranks.

// | module | contents |
// |---|---|
// | `forward` | one row against all others: the moves that lead to lower layers |
// | `relay` | one row against all others: the relays |
// | `read_queue` | frames of lower tables, and scores read one by one |
// | `pair` | a pair of frames, level by level |
// | `workspace` | the moves and maps of rows, and the memory of a builder, reused for every pair |
// | `computer` | all frames of a layer, packed, pair by pair or groups of pairs in parallel |
// | `kernels` | the loops over bytes, for each instruction set |

mod computer;
mod forward;
pub mod kernels;
mod pair;
mod read_queue;
mod relay;
mod workspace;

pub use computer::CpuComputer;
pub use pair::{PairScores, compute_pair};
pub use workspace::{Evaluator, Workspace};
