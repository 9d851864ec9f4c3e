//! Computing tables, layer by layer.
//!
//! | room | idea |
//! |---|---|
//! | [`backend`](Backend) | what computes frames: the CPU or a GPU |
//! | [`cpu`] | the scores of one pair of mirrored frames, on all cores |
//! | [`gpu`] | the same on a GPU, through wgpu |
//! | [`plan`](Plan) | what a build will need, said before it begins |
//! | [`work`](Work) | the same, pair by pair, to be spread over machines |
//! | [`driver`](Builder) | layers in order, resuming, writing beside computing |
//! | [`pair`](PairBuilder) | single pairs of frames, beside other processes |
//! | `writing` | writing frames while the next are computed |
//! | [`log`](BuildRecord) | how long each layer took |
//! | [`measure`](measure()) | what one layer takes, and where it goes |

mod backend;
pub mod cpu;
mod driver;
pub mod gpu;
mod log;
mod measure;
mod pair;
mod plan;
mod work;
mod writing;

pub use backend::{Backend, ComputeError, Computer, Output};
pub use driver::{BuildError, BuildReport, Builder, Event, build};
pub use log::BuildRecord;
pub use measure::{GpuMeasurement, Measurement, measure};
pub use pair::{PairBuilder, PairReport, ShareReport};
pub use plan::{Plan, PlanError};
pub use work::{PairWork, Work};
