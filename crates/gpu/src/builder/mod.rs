//! The scores of pairs of mirrored frames, on a GPU.
//!
//! The tables equal the CPU's, byte for byte. Frames of lower layers stay on the device in file
//! format, as far as its memory allows. Other frames are copied from the mapped files. New frames
//! are packed on the device, so that only finished ones are copied back.

// | module | contents |
// |---|---|
// | `stages` | the computation: every stage as a shader and as its twin on the CPU |
// | `classes` | classes of moves, and the frames that they lead to |
// | `lists` | moves of rows and maps of ranks, as words; crossings of relays, divided so that threads do not race |
// | `prefetcher` | making these while the device computes |
// | `rows` | these words on the device |
// | `lower` | frames of lower layers on the device |
// | `parts` | parts of these frames, for stages that cannot use all of one at once |
// | `residency` | selection of frames to keep when future reads are given |
// | `matrix` | scores on the device, in buffers that a stage can use at once |
// | `pair` | the scores of a pair of frames |
// | `packer` | packing on the device, and copying packed frames back while it continues |
// | `computer` | all frames of a layer: a GPU as a device that builds tables, and its self-test |
// | `memory` | device memory for a build, and the limits of the device |

mod classes;
mod computer;
mod lists;
mod lower;
mod matrix;
mod memory;
mod packer;
mod pair;
mod parts;
mod prefetcher;
mod residency;
mod rows;
pub mod stages;

pub use computer::{GpuComputer, self_test};
pub use memory::max_seeds;
