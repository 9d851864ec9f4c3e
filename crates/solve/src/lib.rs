//! Solving positions of the sowing game Kalah that are above its tables.
//!
//! The crate `kalah` re-exports these modules. Dependencies run one way:
//! [`bounds`] <- [`book`] <- [`solve`] <- [`train`].
//!
//! | module | contents |
//! |---|---|
//! | [`book`] | proved bounds of positions near the start |
//! | [`bounds`] | proved bounds of positions, sorted and compressed |
//! | [`solve`] | solving positions above the tables |
//! | [`train`] | training evaluation networks |

pub mod book;
pub mod bounds;
pub mod solve;
pub mod train;
