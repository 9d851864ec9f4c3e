//! Solving positions of the sowing game Kalah that are above its tables.
//!
//! The crate `kalah` re-exports these modules. Dependencies run one way:
//! [`bounds`] <- [`blocks`] <- [`book`] <- [`solve`].
//!
//! | module | contents |
//! |---|---|
//! | [`book`] | proved bounds of positions near the start |
//! | [`blocks`] | claims in compressed blocks |
//! | [`bounds`] | proved bounds of positions: claims |
//! | [`solve`] | solving positions above the tables |

pub mod blocks;
pub mod book;
pub mod bounds;
pub mod solve;
