//! Makes bound tables from exact ones.

// | module | contents |
// |---|---|
// | `maker` | a bound table, frame by frame, in memory or in a file |
// | `codes` | the codes of the positions of a frame |
// | `run_evaluation` | the evaluations of all positions of a run |

mod codes;
mod maker;
mod run_evaluation;

pub use codes::{FrameCodes, frame_codes};
pub use maker::BoundMaker;
