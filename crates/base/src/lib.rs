//! Shared by the crates above `kalah-core`: files, progress, random numbers, text, the machine.
//!
//! The crate `kalah` re-exports most of these modules.
//!
//! | module | contents |
//! |---|---|
//! | [`diagnostic`] | outcome and advice of errors |
//! | [`mod@file`] | opening, replacing, sealing and locking files |
//! | [`parallel`] | work shared by threads |
//! | [`printable`] | making untrusted text safe to print |
//! | [`progress`] | progress of a long computation, and stopping it |
//! | [`random`] | random numbers from the seeds that users choose |
//! | [`system`] | available memory and free disk space |

pub mod diagnostic;
pub mod file;
pub mod parallel;
pub mod printable;
pub mod progress;
pub mod random;
pub mod system;
