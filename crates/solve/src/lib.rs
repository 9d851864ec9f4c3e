//! Solving positions of the sowing game Kalah that are above its tables.
//!
//! The crate `kalah` re-exports these modules. Dependencies run one way:
//!
//! | module | contents |
//! |---|---|
//! | [`analyse`] | analyses of whole boards |
//! | [`book`] | proved bounds of positions near the start |
//! | [`certificate`] | proved bounds that anyone can check |
//! | [`prove`] | proofs in a directory, by any number of processes, and the claims of their certificates |
//! | [`solve`] | solving positions above the tables |
//! | [`train`] | training evaluation networks |

pub mod analyse;
pub mod book;
pub mod certificate;
mod leb128;
pub mod prove;
pub mod solve;
pub mod train;
