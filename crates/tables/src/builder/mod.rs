//! Computing tables, layer by layer.
//!
//! | module | what it holds |
//! |---|---|
//! | [`computer`](Computer) | traits: what computes frames, and what takes them |
//! | [`cpu`] | the scores of one pair of mirrored frames, on all cores |
//! | [`device`](Device) | traits: a device other than the CPU, and what computes on it |
//! | [`backend`](Backend) | the CPU or a GPU |
//! | [`plan`](Plan) | the memory, disk and time that a build will need |
//! | `sizes` | bytes of files and of memory, reckoned before anything is built |
//! | [`cluster_plan`](Work) | the same, pair by pair, to be spread over machines |
//! | [`layer_plan`](LayerPlan) | the memory of each layer, and what is read and written in which order |
//! | [`dependencies`](lower_frames) | which frames of lower layers a frame is computed from |
//! | [`driver`](Builder) | building layers in order, resuming, writing while computing |
//! | [`shared_build`](PairBuilder) | a build shared by processes: single pairs of frames |
//! | [`packed_build`](PackedBuilder) | a build into archives |
//! | `unpacked` | frames of archives, in memory while they are needed |
//! | `frame_cache` | which of these are kept |
//! | `finishing` | giving layers their names while the next ones are computed |
//! | `writer` | writing frames while the next ones are computed |
//! | [`event`](Event) | progress of a build while it runs |
//! | [`log`](BuildRecord) | how long each layer took |
//! | [`error`](BuildError) | why a build ended early |
//! | [`measure`](measure()) | measuring how long one layer takes, and on what |

mod backend;
mod cluster_plan;
mod computer;
pub mod cpu;
mod dependencies;
mod device;
mod driver;
mod error;
mod event;
mod finishing;
mod frame_cache;
mod layer_plan;
mod log;
mod measure;
mod packed_build;
mod plan;
mod shared_build;
mod sizes;
mod unpacked;
mod writer;

pub use backend::Backend;
pub use cluster_plan::{PairWork, Work};
pub use computer::{ComputeError, Computer, DeviceError, Output};
pub use dependencies::lower_frames;
pub use device::{Device, DeviceComputer, Traffic};
pub use driver::{BuildReport, Builder, build};
pub use error::BuildError;
pub use event::Event;
pub use layer_plan::{LayerPlan, StepPlan, layer_plans};
pub use log::{BuildLog, BuildRecord};
pub use measure::{GpuMeasurement, Measurement, measure};
pub use packed_build::{PackedBuilder, PackedReport};
pub use plan::{Plan, PlanError};
pub use shared_build::{PairBuilder, PairReport, ShareReport};
pub use unpacked::ArchiveReads;
