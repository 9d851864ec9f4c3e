//! The scores of one pair of mirrored frames, on all cores.
//!
//! Everything a move does to the mover's row depends on that row alone; to the other row it adds seeds from the first
//! pit on, or takes one pit. So the unit of work is one mover's row against *all* other rows: each of its moves is
//! played once and then reads one run of a lower table, transformed by a map of ranks.
//!
//! | room | idea |
//! |---|---|
//! | [`row_move`](RowMove) | what a move does, told from the mover's row alone |
//! | `moves` | the moves of all rows with the same seeds, by rank |
//! | [`evaluator`](Evaluator) | what is known of the rows of a board, whatever the layer |
//! | `forward` | one row against all others: the moves that lead to lower layers |
//! | [`pair`](compute_pair) | a pair of frames, level by level |
//! | [`workspace`](Workspace) | the memory of a builder, used again for every pair |
//! | [`computer`](CpuComputer) | all frames of a layer, packed |
//! | [`pulse`](Pulse) | progress, and the word to stop |
//! | [`kernels`] | the loops over bytes, for each instruction set |

mod computer;
mod evaluator;
mod forward;
pub mod kernels;
mod moves;
mod pair;
mod pulse;
mod row_move;
mod workspace;

pub use computer::CpuComputer;
pub use evaluator::Evaluator;
pub(crate) use moves::{ForwardMove, Kind, Moves};
pub use pair::{PairScores, compute_pair};
pub use pulse::Pulse;
pub use row_move::RowMove;
pub use workspace::Workspace;
