//! Computes tables, layer by layer.

// | module | contents |
// |---|---|
// | `computer` | traits for computing frames and receiving them; the lower frames from which one is computed |
// | `cpu` | the scores of one pair of mirrored frames, on all cores |
// | `backend` | the CPU or a GPU |
// | `plan` | the memory, disk and time that a build will need |
// | `driver` | building layers in order, alone or together with other processes; bound tables beside them |
// | `in_memory` | building tables in memory, without files or threads |
// | `run` | a running build: its computer, tables layer by layer, and giving them their names |
// | `shared_layers` | layers shared with other processes, pair by pair |
// | `writer` | writing frames while the next ones are computed |
// | `event` | progress of a build while it runs, its results, and reasons why it ended early |
// | `log` | the build time of each layer |
// | `measure`(measure()) | measuring the build of one layer |

mod backend;
mod computer;
pub mod cpu;
mod driver;
mod event;
mod in_memory;
mod log;
mod measure;
mod plan;
mod run;
mod shared_layers;
mod writer;

pub use backend::Backend;
pub use computer::{
    ARRIVING_FRAMES, ArrivingFrame, ComputeError, Computer, Device, DeviceComputer, DeviceError, DeviceTraffic,
    FrameOutput, SMALL_ARRIVING_FRAMES, lower_frames,
};
pub use driver::{Builder, build};
pub use event::{BuildError, BuildEvent, BuildReport};
pub use in_memory::MemoryBuilder;
pub use log::{BuildLog, BuildRecord};
pub use measure::{GpuMeasurement, Measurement, measure};
pub use plan::{BuildPlan, LayerPlan, PlanError};
