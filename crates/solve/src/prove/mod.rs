//! Proofs that last: tests are split into jobs, whose results are kept in a directory, until they prove a statement; claims are
//! extracted from the search for a certificate (docs/proving.md in the repository).
//!
//! | module | what it holds |
//! |---|---|
//! | [`test`](Test) | a zero-window test as data, and what each move means for it |
//! | [`request`](Request) | what is to be proved, and its [parts](Part) |
//! | [`target`](Target) | what is to be proved of one position, and which test is next |
//! | [`manager`](Manager) | from finished jobs to the next ones, by proof numbers |
//! | [`claims`](Claims) | claims in memory and in the files of jobs |
//! | [`extract`](Extraction) | claims from what a solver proved |
//! | [`checkers`](Checkers) | checking claims by themselves, and certificates, on all threads |
//! | `audit` | which jobs are wrong, once something is |
//! | [`plan`](ProofPlan) | what a proof is about and rests on; its statement and certificate |
//! | [`directory`](ProofDirectory) | the files of a proof |
//! | `numbers` | the proof numbers of a test that was not run, from its evaluation |
//! | [`state`](State) | how far a proof is, and what happens in it |
//! | [`prover`](Prover) | a process that works on a proof |
//! | [`status`](Status) | what is proved in a directory, without a solver |
//! | [`error`](ProveError) | why a proof does not get on |

mod audit;
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
mod target;
mod test;

pub use checkers::Checkers;
pub use claims::Claims;
pub use directory::{Job, ProofDirectory};
pub use error::ProveError;
pub use extract::{Extraction, Research};
pub use manager::{Finished, Manager, Numbers, Plan};
pub use plan::Plan as ProofPlan;
pub use prover::{Prover, ProverOptions};
pub use request::{Part, Request, Wanted};
pub use state::{ProveEvent, State};
pub use status::{Running, Status};
pub use target::{Aim, Progress, Target};
pub use test::{Reply, Test};
