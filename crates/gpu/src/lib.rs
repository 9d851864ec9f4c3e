//! Exact endgame tablebases for the sowing game Kalah, built on a GPU.
//!
//! The crate `kalah` re-exports these modules. Dependencies run one way: [`device`] <- [`builder`].
//!
//! | module | what it holds |
//! |---|---|
//! | [`builder`] | computing tables |
//! | [`device`] | computing on a GPU, independent of what is computed |

pub mod builder;
pub mod device;
