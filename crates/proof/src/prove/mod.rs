//! Proofs kept in a directory. Tests are split into jobs, whose results are saved until they prove a statement.
//! The claims of a certificate are extracted from the searches (docs/proving.md in the repository).

// | module | contents |
// |---|---|
// | `test` | a zero-window test as data, and the tests of its moves |
// | `request` | the request of a proof, and its parts |
// | `target` | the aim for one position, and its next test |
// | `manager` | choosing the next jobs from the finished ones, by proof numbers |
// | `claims` | claims in memory and in the files of jobs |
// | `store` | entries of a few bytes, found by their keys |
// | `extract` | claims from the tests that a solver proved |
// | `checkers` | checking single claims, and certificates, on all threads |
// | `wrong_jobs` | finding wrong jobs |
// | `plan` | request, effort and tables of a proof; its statement and certificate |
// | `directory` | the files of a proof |
// | `numbers` | the proof numbers of a test that was not run, from its evaluation |
// | `state` | progress of a proof, and its events |
// | `prover` | a process that works on a proof |
// | `status` | bounds proved in a directory, without a solver |
// | `error` | errors of a proof |

mod checkers;
mod claims;
mod directory;
mod error;
mod extract;
mod manager;
mod numbers;
mod plan;
mod prover;
mod request;
mod state;
mod status;
mod store;
mod target;
mod test;
mod wrong_jobs;

pub use checkers::Checkers;
pub use claims::Claims;
pub use directory::{Job, ProofDirectory};
pub use error::ProveError;
pub use plan::ProofPlan;
pub use prover::{Prover, ProverOptions};
pub use request::{Request, RequestPart, Wanted};
pub use state::{ProveEvent, State};
pub use status::{Running, Status};
pub use target::{Aim, Progress, Target};
pub use test::Test;
