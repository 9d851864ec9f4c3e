//! Computes on a GPU through wgpu, independent of the application.
//!
//! A [`Kernel`] is a compute shader, the buffers it uses, and its twin: a function that does the
//! same on the CPU. An open [`Gpu`] compiles kernels on first use. Work is recorded and submitted
//! in batches.

// | module | contents |
// |---|---|
// | `adapter` | listing and choosing adapters |
// | `report` | the description of an adapter |
// | `options` | limits on memory, and other options |
// | `gpu` | an open GPU: compiled kernels, faults |
// | `faults` | faults of a device |
// | `waiting` | noticing faults, and waiting for work that may never end |
// | `caught` | panics of wgpu, as errors |
// | `buffer` | memory on the device, and parts of it that a kernel uses |
// | `kernel` | a shader, its buffers and parameters, its twin |
// | `twin` | support for twins on the CPU: threads, shared words, the built-in functions of WGSL |
// | `trace` | uses of words, for a check of twins for data races |
// | `recorder` | recording work and submitting it in batches |
// | `flight` | submissions that have not ended yet |
// | `pace` | the amount of work to submit at once |
// | `staging` | copying data to the device |
// | `timing` | times of kernels, by the device's clock |
// | `single` | running a single kernel, for tests |
// | `error` | reasons why a computation ended early |

mod adapter;
mod buffer;
mod caught;
mod error;
mod faults;
mod flight;
mod gpu;
mod kernel;
mod options;
mod pace;
mod recorder;
mod report;
mod single;
mod staging;
mod timing;
mod trace;
mod twin;
mod waiting;

pub use adapter::Adapter;
pub(crate) use buffer::{DeviceBuffer, Window};
pub use caught::catches_panics;
pub use error::{GpuError, Shortage};
pub use gpu::Gpu;
pub(crate) use kernel::params;
pub use kernel::{Access, Kernel, Params, TracedTwin, Twin, WORKGROUP};
pub use options::GpuOptions;
pub(crate) use recorder::{MAX_WORKGROUPS, RECORDER_BYTES, Recorder, RecorderBuffers};
pub use report::{AdapterReport, Tier};
pub(crate) use timing::Timing;
pub use trace::{Barrier, Memory, NoTrace, Tracer, Use};
pub use twin::{Words, Workgroup, bindings};
pub(crate) use twin::{extract_bits, pack4x_u8, read, unpack4x_u8};
pub use waiting::has_hung;
