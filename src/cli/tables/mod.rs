//! Commands that build and check tables.
//!
//! | module | what it holds |
//! |---|---|
//! | `build` | `kalah build` |
//! | `plan` | `kalah plan`: `build`, `layers` |
//! | `train` | `kalah train` |
//! | `bounds` | `kalah bounds` |
//! | `verify` | `kalah verify` |
//! | `info` | `kalah info` |
//! | `stats` | `kalah stats` |
//! | `export` | `kalah export` |
//! | `archive` | `kalah archive`: `pack`, `unpack` |
//! | `bench` | `kalah bench` |
//! | `gpu` | `kalah gpu`; `no_gpu`: the same in a program without GPUs |

pub mod archive;
pub mod bench;
pub mod bounds;
pub mod build;
pub mod export;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod info;
#[cfg(not(feature = "gpu"))]
pub mod no_gpu;
pub mod plan;
pub mod stats;
pub mod train;
pub mod verify;

#[cfg(not(feature = "gpu"))]
pub use no_gpu as gpu;
