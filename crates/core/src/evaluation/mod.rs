//! Evaluations of positions: heuristic scores, which prove nothing. Searches order moves by them,
//! and bound tables store scores relative to them.

// | module | contents |
// |---|---|
// | `network` | an evaluation network |
// | `phased` | a network for each phase of the game |
// | `format` | the bytes of a network file |
// | `shipped` | networks shipped with the program, and files beside tables |

mod format;
mod network;
mod phased;
mod shipped;

pub use network::{LANES, MOST_HELD, Network, NetworkError, Weights};
pub use phased::{MOST_PHASES, Phase, PhasedNetwork};
pub use shipped::{NetworkFileError, NetworkFileReason};

/// Units of an evaluation in one seed.
pub const SEED: i32 = 16;
