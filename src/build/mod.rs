//! Computing tables, layer by layer.
//!
//! | room | idea |
//! |---|---|
//! | [`backend`](Backend) | what computes frames: the CPU or a GPU |
//! | [`cpu`] | the scores of one pair of mirrored frames, on all cores |
//! | [`gpu`] | the same on a GPU, through wgpu |
//! | [`plan`](Plan) | what a build will need, said before it begins |
//! | [`driver`](Builder) | layers in order, resuming, writing beside computing |
//! | [`log`](BuildRecord) | how long each layer took |

mod backend;
pub mod cpu;
mod driver;
pub mod gpu;
mod log;
mod plan;

pub use backend::{Backend, ComputeError, Computer, Output};
pub use driver::{BuildError, BuildReport, Builder, Event, build};
pub use log::BuildRecord;
pub use plan::{Plan, PlanError};
