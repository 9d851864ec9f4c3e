//! Exact endgame tablebases for the sowing game Kalah: building on the CPU, keeping, verifying.
//!
//! The crate `kalah` re-exports these modules. Dependencies run one way: [`table`], [`rows`] <- [`builder`] <-
//! [`verify`].
//!
//! | module | contents |
//! |---|---|
//! | [`builder`] | computing tables |
//! | [`rows`] | the effect of moves on rows, in terms of ranks |
//! | [`table`] | tables on disk: writing, archives, manifests |
//! | [`verify`] | checking that tables are correct |

pub mod builder;
pub mod rows;
pub mod table;
pub mod verify;
