//! Evaluations of positions: heuristic scores, which prove nothing. Searches order moves by them,
//! and bound tables store scores relative to them.

// | module | contents |
// |---|---|
// | `network` | an evaluation network |
// | `phased` | a network for each phase of the game |
// | `format` | the bytes of a network file |

mod format;
mod network;
mod phased;

pub use network::{LANES, MOST_HELD, Network, NetworkError, Weights};
pub use phased::{Phase, PhasedNetwork};

/// Units of an evaluation in one seed.
pub const SEED: i32 = 16;
