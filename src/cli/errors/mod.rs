//! Wording of errors, and advice.
//!
//! | module | contents |
//! |---|---|
//! | `advice` | advice for an error |
//! | `table` | that for tables, and positions that none has |
//! | `state` | that for work kept in files |
//! | `statement` | text of an error, with figures for people |
//! | `gpu` | errors of a GPU |
//! | `suggestion` | commands that fit this machine, for a shell |

pub mod advice;
pub mod gpu;
pub mod state;
pub mod statement;
pub mod suggestion;
pub mod table;
