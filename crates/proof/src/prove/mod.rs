//! Proofs kept in a directory. Tests are split into jobs, whose results are saved until they prove a statement.
//! The claims of a certificate are extracted from the searches (docs/proving.md in the repository).

// | module | contents |
// |---|---|
// | `test` | a zero-window test as data, the tests of its moves; the aim for one position, and its next test |
// | `request` | the request of a proof, its parts, effort and tables; its statement |
// | `manager` | choosing the next jobs from the finished ones, by proof numbers; these from evaluations |
// | `claims` | claims in memory and in the files of jobs |
// | `store` | entries of a few bytes, found by their keys |
// | `extract` | claims from the tests that a solver proved |
// | `checkers` | checking single claims, and certificates, on all threads; finding wrong jobs |
// | `directory` | the files of a proof |
// | `prover` | a process that works on a proof |
// | `status` | progress of a proof, its events, and bounds proved in a directory without a solver |
// | `error` | errors of a proof |

mod checkers;
mod claims;
mod directory;
mod error;
mod extract;
mod manager;
mod prover;
mod request;
mod status;
mod store;
mod test;

pub use checkers::Checkers;
pub use claims::Claims;
pub use directory::{Job, ProofDirectory};
pub use error::ProveError;
pub use prover::{Prover, ProverOptions};
pub use request::{ProofPlan, Request, RequestPart, Wanted};
pub use status::{ProveEvent, State, Status};
pub use test::{Aim, Progress, Target, Test};
