//! Computing on a GPU through wgpu, whatever is computed.
//!
//! A [`Kernel`] is a compute shader, the buffers it uses, and its twin: a function that does the same on the CPU. An open
//! [`Gpu`] compiles kernels when they are first used; work is recorded and submitted some at a time.
//!
//! Without the feature `gpu`, `absent.rs` takes the place of all this.
//!
//! | module | what it holds |
//! |---|---|
//! | [`adapter`](Adapter) | which GPUs there are, and which to take |
//! | [`report`](AdapterReport) | what is known of an adapter |
//! | [`options`](GpuOptions) | how to use a GPU |
//! | [`device`](Gpu) | an open GPU: compiled kernels, faults |
//! | `buffer` | memory on the device, and parts of it that a kernel uses |
//! | [`kernel`](Kernel) | what the device has to know of a computation |
//! | `twin` | the built-in functions of WGSL, for twins on the CPU |
//! | `recorder` | work recorded and submitted, some at a time |
//! | `staging` | data on its way to the device |
//! | `timing` | how long kernels take, by the device's clock |
//! | [`single`](Gpu::run_kernel) | one kernel alone, for tests |
//! | [`error`](GpuError) | why a computation ended early |

mod adapter;
mod buffer;
mod device;
mod error;
mod kernel;
mod options;
mod recorder;
mod report;
mod single;
mod staging;
mod timing;
mod twin;

pub use adapter::Adapter;
pub(crate) use buffer::{DeviceBuffer, Window};
pub use device::Gpu;
pub use error::{GpuError, Shortage};
pub(crate) use kernel::params;
pub use kernel::{Access, Kernel, Params, Twin, WORKGROUP};
pub use options::GpuOptions;
pub(crate) use recorder::{MAX_WORKGROUPS, RECORDER_BYTES, Recorder};
pub use report::{AdapterReport, Tier};
pub(crate) use timing::Timing;
pub(crate) use twin::{extract_bits, pack4x_u8, read, threads, unpack4x_u8};

/// Whether this build can compute on GPUs.
pub const IS_SUPPORTED: bool = true;
