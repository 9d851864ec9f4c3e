//! Exact endgame tablebases for the sowing game Kalah: building on the CPU, keeping, verifying.
//!
//! The crate `kalah` re-exports these modules. Dependencies run one way: [`mod@file`], [`system`],
//! [`progress`] <- [`table`], [`rows`] <- [`builder`] <- [`verify`].
//!
//! | module | contents |
//! |---|---|
//! | [`builder`] | computing tables |
//! | [`mod@file`] | opening, replacing, sealing and locking files |
//! | [`lock`] | the mutex of builders and searches |
//! | [`printable`] | making untrusted text safe to print |
//! | [`progress`] | progress of a long computation, and stopping it |
//! | [`random`] | random numbers from the seeds that users choose |
//! | [`rows`] | the effect of moves on rows, in terms of ranks |
//! | [`system`] | available memory and free disk space |
//! | [`table`] | tables on disk: writing, archives, manifests; with the readers of `kalah-core` |
//! | [`temporary`] | directories for temporary files |
//! | [`verify`] | checking that tables are correct |

pub mod builder;
pub mod file;
pub mod lock;
pub mod printable;
pub mod progress;
pub mod random;
pub mod rows;
pub mod system;
pub mod table;
pub mod temporary;
pub mod verify;
