//! Makes bound tables from exact ones.

// | module | contents |
// |---|---|
// | `maker` | a bound table, frame by frame, in memory or in a file |
// | `run_evaluation` | the evaluations of all positions of a run |

mod maker;
mod run_evaluation;

pub use maker::{BoundMaker, FrameCodes, frame_codes};
