//! Errors in words: what an error says, and what to do about it.
//!
//! | module | what it holds |
//! |---|---|
//! | `advice` | what to do about an error |
//! | `statement` | what an error says, with figures as people read them |
//! | `gpu` | errors of a GPU |
//! | `suggestion` | commands that fit this machine, for a shell |

pub mod advice;
pub mod gpu;
pub mod statement;
pub mod suggestion;
