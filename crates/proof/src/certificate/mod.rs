//! Certificates: files of proved bounds that anyone can check from the rules and the tables alone
//! (docs/certificates.md in the repository).

// | module | contents |
// |---|---|
// | `claim` | proved bounds of scores |
// | `statement` | the bounds that a certificate proves |
// | `format` | the bytes of a file |
// | `writer` | writing files |
// | `error` | errors of files |
// | `board` | an implementation of the rules for the checker alone |
// | `memory` | bounds found by one search of the checker |
// | `checker_search` | the checker's search |
// | `check` | checking that one bound follows |
// | `check_error` | errors found by a check, or of the check itself |
// | `run` | checking all claims in the order of the file, or a sample, on all threads |
// | `strategy` | playing by a certificate without searches |
// | `stored` | reading files: into memory, or as a certificate whose claims stay in its file |
// | `tally` | the counts of a check, and the file that keeps them |

mod board;
mod check;
mod check_error;
mod checker_search;
mod claim;
mod error;
mod format;
mod memory;
mod run;
mod statement;
mod stored;
mod strategy;
mod tally;
mod writer;

pub use check::{Checker, Reason};
pub use check_error::{CheckError, Unproved};
pub use checker_search::CheckerFinding;
pub use claim::{Bound, Claim, ClaimError, ClaimSet};
pub use error::{CertificateDamage, CertificateError, CertificatePart, VERSION};
pub use kalah_solve::bounds::ClaimKeys;
pub use run::Check;
pub use statement::{Certificate, Goal, Head, OpeningBounds, Statement, StatementError, digest_of_tables};
pub use stored::StoredCertificate;
pub use strategy::{Basis, Strategy, StrategyError, StrategyMove};
pub use tally::{CheckIdentity, CheckTally};
pub(crate) use writer::write_sorted;
