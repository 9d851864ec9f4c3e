//! Proofs kept in a directory. Tests are split into jobs, whose results are saved until they prove a statement.
//! The claims of a certificate are extracted from the searches (docs/proving.md in the repository).

// | module | contents |
// |---|---|
// | `test` | a zero-window test as data, the tests of its moves |
// | `request` | the request of a proof, its parts and their aims, effort and tables; its statement |
// | `manager` | choosing the next jobs from the finished ones, by proof numbers; these from evaluations |
// | `claims` | claims in memory and in the files of jobs |
// | `extract` | claims from the tests that a solver proved |
// | `checkers` | checking claims on all threads; finding wrong jobs |
// | `directory` | the files of a proof |
// | `prover` | a process that works on a proof, its events and its progress |
// | `error` | errors of a proof |

mod checkers;
mod claims;
mod directory;
mod error;
mod extract;
mod manager;
mod prover;
mod request;
mod test;

pub use directory::{Job, ProofDirectory};
pub use error::ProveError;
pub use prover::{ProveEvent, Prover, ProverOptions, State};
pub use request::{Aim, Progress, ProofPlan, Request, RequestPart, Wanted};
pub use test::Test;
