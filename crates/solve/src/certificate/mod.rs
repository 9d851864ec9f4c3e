//! Certificates: files of proved bounds that anyone can check from the rules and the tables alone (docs/certificates.md
//! in the repository).
//!
//! | module | what it holds |
//! |---|---|
//! | [`key`](Keys) | the number of a position by which claims are sorted |
//! | [`claim`](ClaimSet) | proved bounds of scores |
//! | [`statement`](Statement) | what a certificate proves |
//! | [`format`](CertificateFile) | the bytes of a file |
//! | [`error`](CertificateError) | what can be wrong with a file |
//! | `block` | blocks of claims, compressed |
//! | `bytes` | reading bytes from the front |
//! | `board` | the rules once more, for the checker alone |
//! | `memory` | bounds that one search of the checker has found |
//! | [`checker_search`](CheckerFinding) | the checker's search |
//! | [`check`](Checker) | whether one bound follows |
//! | [`copies`](open_copied) | opening tables for a check, in copies if there is memory for them |
//! | `compared` | comparing whole tables with their digests, and again once they were used |
//! | [`check_error`](CheckError) | what a check found, or why it could not be made |
//! | [`run`](Check) | checking all claims, or a sample, on all threads |
//! | [`tasks`](Tasks) | what of a check is done, and the file that keeps it |

mod block;
mod board;
mod bytes;
mod check;
mod check_error;
mod checker_search;
mod claim;
mod compared;
mod copies;
mod error;
mod format;
mod key;
mod memory;
mod run;
mod statement;
mod tasks;

pub use check::{Checker, Reason};
pub use check_error::{CheckError, Unproved};
pub use checker_search::CheckerFinding;
pub use claim::{Bound, Claim, ClaimError, ClaimSet};
pub use copies::open_copied;
pub use error::{CertificateDamage, CertificateError, CertificatePart, VERSION};
pub use format::{CertificateFile, MAGIC};
pub use key::Keys;
pub use run::{Check, SaveTasks};
pub use statement::{Certificate, Goal, Head, Opening, Statement, StatementError};
pub use tasks::{CheckIdentity, Tally, Tasks};
