//! Makes bound tables from exact ones.

// | module | contents |
// |---|---|
// | `maker` | a bound table, frame by frame, and the codes of the positions of a frame |
// | `run_evaluation` | the evaluations of all positions of a run |

mod maker;
mod run_evaluation;

pub use maker::BoundMaker;
pub(crate) use maker::{FrameCodes, frame_codes};
