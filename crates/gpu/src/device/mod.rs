//! Computes on a GPU through wgpu, independent of the application.
//!
//! A [`Kernel`] is a compute shader, the buffers it uses, and its twin: a function that does the
//! same on the CPU. An open [`Gpu`] compiles kernels on first use. Work is recorded and submitted
//! in batches.

// | module | contents |
// |---|---|
// | `adapter` | listing, describing and choosing adapters |
// | `gpu` | an open GPU: its options, compiled kernels, faults |
// | `waiting` | noticing faults, and waiting for work that may never end |
// | `buffer` | memory on the device, parts of it that a kernel uses, and copying data there |
// | `kernel` | a shader, its buffers and parameters, its twin |
// | `single` | running a single kernel, for tests |
// | `twin` | support for twins on the CPU: threads, shared words with a trace, the built-in functions of WGSL |
// | `recorder` | recording work and submitting it in batches |
// | `pace` | the amount of work to submit at once, and submissions that have not ended yet |
// | `timing` | times of kernels, by the device's clock |
// | `error` | reasons why a computation ended early, also panics of wgpu |

mod adapter;
mod buffer;
mod error;
mod gpu;
mod kernel;
mod pace;
mod recorder;
mod single;
mod timing;
mod twin;
mod waiting;

pub use adapter::{Adapter, AdapterReport, Tier};
pub(crate) use buffer::{DeviceBuffer, Window};
pub use error::{GpuError, Shortage, VULKAN_PARTS, catches_panics};
pub use gpu::{Gpu, GpuOptions};
pub use kernel::{Access, Kernel, Twin};
pub(crate) use recorder::{Bound, MAX_WORKGROUPS, RECORDER_BYTES, Recorder, RecorderBuffers};
pub(crate) use timing::Timing;
pub use twin::{Memory, NoTrace, Params, Tracer, Use, WORKGROUP, Words, Workgroup, bindings};
pub(crate) use twin::{extract_bits, pack4x_u8, params, read, unpack4x_u8};
pub use waiting::has_hung;
