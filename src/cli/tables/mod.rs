//! Commands that build and check tables.
//!
//! | module | command |
//! |---|---|
//! | `build` | `kalah build` |
//! | `plan` | `kalah plan`: `build`, `layers`, `search` |
//! | `train` | `kalah train` |
//! | `bounds` | `kalah bounds` |
//! | `verify` | `kalah verify` |
//! | `info` | `kalah info` |
//! | `stats` | `kalah stats` |
//! | `export` | `kalah export` |
//! | `fetch` | `kalah fetch`, in a program with tables at addresses |
//! | `archive` | `kalah archive`: `pack`, `unpack` |
//! | `publish` | `kalah publish` |
//! | `bench` | `kalah bench` |
//! | `gpu` | `kalah gpu`; `no_gpu`: the same in a program without GPUs |

pub mod archive;
pub mod bench;
pub mod bounds;
pub mod build;
pub mod export;
#[cfg(feature = "remote")]
pub mod fetch;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod info;
#[cfg(not(feature = "gpu"))]
pub mod no_gpu;
pub mod plan;
pub mod publish;
pub mod stats;
pub mod train;
pub mod verify;

#[cfg(not(feature = "gpu"))]
pub use no_gpu as gpu;
