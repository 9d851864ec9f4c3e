//! Parts that the test programs share.

pub mod browser;
pub mod files;
#[cfg(unix)]
pub mod leases;
pub mod optional;
pub mod program;
pub mod reference;
pub mod serving;
#[cfg(unix)]
pub mod signals;
pub mod small_boards;
