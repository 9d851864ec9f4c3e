//! Proofs about positions of the sowing game Kalah, kept in files that others can check.
//!
//! The crate `kalah` re-exports these modules. Dependencies run one way: [`certificate`] <- [`prove`]. Only [`prove`]
//! and [`book`] use the solver.
//!
//! | module | contents |
//! |---|---|
//! | [`book`] | making and checking books |
//! | [`certificate`] | proved bounds that anyone can check |
//! | [`prove`] | proofs in a directory, by any number of processes, and the claims of their certificates |

pub mod book;
pub mod certificate;
pub mod prove;
