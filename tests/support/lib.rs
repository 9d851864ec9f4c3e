//! Parts that the test programs share.
#![allow(missing_debug_implementations, reason = "tests print none of them")]

pub mod browser;
#[cfg(unix)]
pub mod cluster;
pub mod exhaustive;
pub mod files;
pub mod host;
#[cfg(unix)]
pub mod leases;
pub mod optional;
pub mod place;
pub mod program;
pub mod random;
pub mod reference;
pub mod serving;
#[cfg(unix)]
pub mod signals;
pub mod small_boards;
pub mod tables;
