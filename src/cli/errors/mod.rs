//! Wording of errors, and advice.
//!
//! | module | contents |
//! |---|---|
//! | `advice` | advice for an error |
//! | `statement` | text of an error, with figures for people |
//! | `gpu` | errors of a GPU |
//! | `suggestion` | commands that fit this machine, for a shell |

pub mod advice;
pub mod gpu;
pub mod statement;
pub mod suggestion;
