//! Computes tables, layer by layer.

// | module | contents |
// |---|---|
// | `computer` | traits for computing frames and receiving them |
// | `cpu` | the scores of one pair of mirrored frames, on all cores |
// | `device` | traits for a device other than the CPU, and its computer |
// | `backend` | the CPU or a GPU |
// | `plan` | the memory, disk and time that a build will need |
// | `sizes` | predicted bytes of files and memory |
// | `dependencies` | the lower frames from which a frame is computed |
// | `driver` | building layers in order, alone or together with other processes |
// | `in_memory` | building tables in memory, without files or threads |
// | `report` | the results of a build |
// | `run` | a running build: its computer, and tables layer by layer |
// | `shared_layers` | layers shared with other processes, pair by pair |
// | `bounds_plan` | bound tables beside the exact ones |
// | `finishing` | giving layers their names while the next ones are computed |
// | `writer` | writing frames while the next ones are computed |
// | `event` | progress of a build while it runs |
// | `log` | the build time of each layer |
// | `error` | reasons why a build ended early |
// | `measure`(measure()) | measuring the build of one layer |

mod backend;
mod bounds_plan;
mod computer;
pub mod cpu;
mod dependencies;
mod device;
mod driver;
mod error;
mod event;
mod finishing;
mod in_memory;
mod log;
mod measure;
mod plan;
mod report;
mod run;
mod shared_layers;
mod sizes;
mod writer;

pub use backend::Backend;
pub use computer::{ComputeError, Computer, DeviceError, FrameOutput};
pub use dependencies::lower_frames;
pub use device::{Device, DeviceComputer, DeviceTraffic};
pub use driver::{Builder, build};
pub use error::BuildError;
pub use event::BuildEvent;
pub use in_memory::MemoryBuilder;
pub use log::{BuildLog, BuildRecord};
pub use measure::{GpuMeasurement, Measurement, measure};
pub use plan::{BuildPlan, LayerPlan, PlanError};
pub use report::BuildReport;
