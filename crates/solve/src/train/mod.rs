//! Training evaluation networks (docs/evaluation.md in the repository).
//!
//! | module | contents |
//! |---|---|
//! | `error` | [why there is no network](TrainError) |
//! | `fit` | [how well evaluations fit scores](Fit) |
//! | `model` | the network while it is trained |
//! | `phases` | positions far above the tables, with estimates of their scores |
//! | `sample` | [positions with their scores](Sample), from searches |
//! | `search_sampler` | searches of positions of random games |
//! | `trainer` | [all of it](Trainer) |

mod error;
mod fit;
mod model;
mod phases;
mod sample;
mod search_sampler;
mod trainer;

pub use error::TrainError;
pub use fit::Fit;
pub use sample::Sample;
pub use trainer::{LEAST_TABLE_SEEDS, Trained, Trainer};
