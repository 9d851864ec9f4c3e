//! Evaluations of positions: heuristic scores, which prove nothing. They order the moves of a
//! search, and bound tables state on which side of them a score lies.

mod format;
mod network;
mod phased;
mod shipped;

pub use format::{NETWORK_MAGIC, NETWORK_VERSION, PHASED_VERSION};
pub use network::{LANES, MOST_HELD, Network, NetworkError, Weights};
pub use phased::{MOST_PHASES, Phase, PhasedNetwork};
pub use shipped::{NetworkFileError, NetworkFileReason};

/// Units of an evaluation in one seed.
pub const SEED: i32 = 16;
