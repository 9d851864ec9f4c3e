//! The scores of one pair of mirrored frames, on all cores.
//!
//! What a move does to the mover's row depends on that row alone (see [`crate::rows`]), so the unit of work is one
//! mover's row against *all* other rows: each of its moves is played once, and then reads one run of a lower table
//! through a map of ranks.
//!
//! | module | what it holds |
//! |---|---|
//! | [`evaluator`](Evaluator) | an instruction set, and the moves and maps of rows |
//! | `lower` | the layers below: tables, and frames of archives |
//! | `forward` | one row against all others: the moves that lead to lower layers |
//! | `relay` | one row against all others: the relays |
//! | `reads` | scores that are read one by one |
//! | [`pair`](compute_pair) | a pair of frames, level by level |
//! | [`workspace`](Workspace) | the memory of a builder, reused for every pair |
//! | `batch` | which pairs are computed at the same time |
//! | `job` | a pair of frames, packed |
//! | `parallel_pairs` | several pairs at the same time |
//! | `computer` | all frames of a layer, packed |
//! | [`kernels`] | the loops over bytes, for each instruction set |

mod batch;
mod computer;
mod evaluator;
mod forward;
mod job;
pub mod kernels;
mod lower;
mod pair;
mod parallel_pairs;
mod reads;
mod relay;
mod workspace;

pub use computer::CpuComputer;
pub use evaluator::Evaluator;
pub use pair::{PairScores, compute_pair};
pub use workspace::Workspace;
