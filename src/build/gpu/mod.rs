//! The scores of pairs of mirrored frames, on a GPU through wgpu.
//!
//! The same tables as the CPU's, byte for byte. Frames of lower layers stay on the device as they stand in files, as far
//! as its memory goes, and come from the mapped files otherwise; the frames under way are packed on the device, so that
//! only finished ones come back.
//!
//! | room | idea |
//! |---|---|
//! | [`adapter`](Adapter) | which GPUs there are, and which to take |
//! | [`device`](Gpu) | an open GPU: buffers, compiled stages, faults |
//! | [`stages`] | what is computed: every stage as a shader and as its twin on the CPU |
//! | `recorder` | work recorded and submitted, some at a time |
//! | [`single`](Gpu::run_stage) | one stage alone, for tests |
//! | `staging` | data on its way to the device |
//! | [`timing`](Timing) | how long stages take, by the device's clock |
//! | `rows` | moves and maps of ranks on the device |
//! | `lower` | frames of lower layers on the device |
//! | `matrix` | scores on the device, in parts that a stage can use at once |
//! | `pair` | the scores of a pair of frames |
//! | `packer` | packing on the device |
//! | `collector` | bringing packed frames back while the device goes on |
//! | [`computer`](GpuComputer) | all frames of a layer |
//! | `memory` | how much memory of the device a build takes |

mod adapter;
mod collector;
mod computer;
mod device;
mod error;
mod lower;
mod matrix;
mod memory;
mod packer;
mod pair;
mod recorder;
mod rows;
mod single;
pub mod stages;
mod staging;
mod timing;

pub use adapter::{Adapter, AdapterReport, Tier};
pub use computer::{GpuComputer, Traffic};
pub use device::{Gpu, GpuOptions};
pub use error::GpuError;
pub use timing::Timing;
