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

pub mod archive;
pub mod bench;
pub mod bounds;
pub mod build;
pub mod export;
pub mod info;
pub mod plan;
pub mod stats;
pub mod train;
pub mod verify;
