//! Computing tables, layer by layer.
//!
//! | module | what it holds |
//! |---|---|
//! | [`computer`](Computer) | traits: what computes frames, and what takes them |
//! | [`cpu`] | the scores of one pair of mirrored frames, on all cores |
//! | [`gpu`] | the same on a GPU |
//! | [`backend`](Backend) | the CPU or a GPU |
//! | [`plan`](Plan) | the memory, disk and time that a build will need |
//! | [`cluster_plan`](Work) | the same, pair by pair, to be spread over machines |
//! | [`driver`](Builder) | building layers in order, resuming, writing while computing |
//! | [`shared_build`](PairBuilder) | a build shared by processes: single pairs of frames |
//! | `finishing` | giving layers their names while the next ones are computed |
//! | `writing` | writing frames while the next ones are computed |
//! | [`event`](Event) | progress of a build while it runs |
//! | [`log`](BuildRecord) | how long each layer took |
//! | [`error`](BuildError) | why a build ended early |
//! | [`measure`](measure()) | measuring how long one layer takes, and on what |

mod backend;
mod cluster_plan;
mod computer;
pub mod cpu;
mod driver;
mod error;
mod event;
mod finishing;
#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "gpu/absent.rs"]
pub mod gpu;
mod log;
mod measure;
mod plan;
mod shared_build;
mod writing;

pub use backend::Backend;
pub use cluster_plan::{PairWork, Work};
pub use computer::{ComputeError, Computer, Output};
pub use driver::{BuildReport, Builder, build};
pub use error::BuildError;
pub use event::Event;
pub use log::BuildRecord;
pub use measure::{GpuMeasurement, Measurement, measure};
pub use plan::{Plan, PlanError};
pub use shared_build::{PairBuilder, PairReport, ShareReport};
