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

pub(super) mod archive;
pub(super) mod bench;
pub(super) mod bounds;
pub(super) mod build;
pub(super) mod export;
#[cfg(feature = "remote")]
pub(super) mod fetch;
#[cfg(feature = "gpu")]
pub(super) mod gpu;
pub(super) mod info;
#[cfg(not(feature = "gpu"))]
pub(super) mod no_gpu;
pub(super) mod plan;
pub(super) mod publish;
pub(super) mod stats;
pub(super) mod train;
pub(super) mod verify;

#[cfg(not(feature = "gpu"))]
pub(super) use no_gpu as gpu;
