//! Certificates: files of proved bounds that anyone can check from the rules and the tables alone
//! (docs/certificates.md in the repository).

// | module | contents |
// |---|---|
// | `statement` | the bounds that a certificate proves |
// | `format` | files: layout, writing, reading of all but the claims |
// | `error` | errors of files and of checks |
// | `board` | an implementation of the rules for the checker alone |
// | `checker_search` | the checker's search, and the bounds that it remembers |
// | `check` | checking that one bound follows |
// | `run` | checking all claims in the order of the file, on all threads; their counts, and the file that keeps them |
// | `strategy` | playing by a certificate without searches |
// | `stored` | reading files: into memory, or as a certificate whose claims stay in its file |

mod board;
mod check;
mod checker_search;
mod error;
mod format;
mod run;
mod statement;
mod stored;
mod strategy;

pub(crate) use check::Checkers;
pub use check::{Checker, Reason};
pub use checker_search::CheckerFinding;
pub use error::{CertificateError, CheckError, VERSION};
pub(crate) use format::write_sorted;
pub use run::{Check, CheckIdentity, CheckTally};
pub(crate) use run::{PART_CLAIMS, check_claims, check_goals};
pub(crate) use statement::score_bounds;
pub use statement::{Certificate, Goal, Head, OpeningBounds, Statement, StatementError, digest_of_tables};
pub use stored::StoredCertificate;
pub use strategy::{Basis, Strategy, StrategyError, StrategyMove};
