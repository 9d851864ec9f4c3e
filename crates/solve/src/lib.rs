//! Solving positions of the sowing game Kalah above its endgame tablebases.
//!
//! The crate `kalah` re-exports these modules. Dependencies run one way: [`book`] <- [`solve`] <- [`train`], [`analyse`]; [`solve`], [`certificate`] <- [`prove`].
//!
//! | module | what it holds |
//! |---|---|
//! | [`analyse`] | whole boards: computing the tables of the papers |
//! | [`book`] | proved bounds of positions near the start |
//! | [`certificate`] | proved bounds that anyone can check |
//! | [`prove`] | proofs that last, by many processes, and the claims of their certificates |
//! | [`solve`] | solving positions above the tables |
//! | [`train`] | training evaluation networks |

pub mod analyse;
pub mod book;
pub mod certificate;
pub mod prove;
pub mod solve;
pub mod train;
