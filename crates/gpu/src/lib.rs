//! Exact endgame tablebases for the sowing game Kalah, built on a GPU.
//!
//! The crate `kalah` re-exports these modules. Dependencies run one way: [`device`] <- [`builder`].
//!
//! | module | contents |
//! |---|---|
//! | [`builder`] | computing tables |
//! | [`device`] | computing on a GPU, independent of the application |

pub mod builder;
pub mod device;
