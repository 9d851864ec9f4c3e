//! The scores of pairs of mirrored frames, on a GPU.
//!
//! The same tables as the CPU's, byte for byte. Without the feature `gpu`, `absent.rs` takes the place of all this. Frames of lower layers stay on the device as they stand in files, as far
//! as its memory goes, and come from the mapped files otherwise; the frames under way are packed on the device, so that
//! only finished ones come back.
//!
//! | module | what it holds |
//! |---|---|
//! | [`stages`] | what is computed: every stage as a shader and as its twin on the CPU |
//! | `rows` | moves and maps of ranks on the device |
//! | `lower` | frames of lower layers on the device |
//! | `matrix` | scores on the device, in parts that a stage can use at once |
//! | `pair` | the scores of a pair of frames |
//! | `packer` | packing on the device |
//! | `collector` | bringing packed frames back while the device goes on |
//! | [`computer`](GpuComputer) | all frames of a layer |
//! | [`traffic`](Traffic) | what went to the device and back |
//! | [`memory`](max_seeds) | how much memory of the device a build takes, and what its limits allow |

mod collector;
mod computer;
mod lower;
mod matrix;
mod memory;
mod packer;
mod pair;
mod rows;
pub mod stages;
mod traffic;

pub use computer::GpuComputer;
pub(super) use memory::least_memory;
pub use memory::max_seeds;
pub use traffic::Traffic;
