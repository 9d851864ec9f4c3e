//! Training evaluation networks (docs/evaluation.md in the repository).

// | module | contents |
// |---|---|
// | `error` | errors of training |
// | `fit` | fit of evaluations to scores |
// | `model` | the network during training |
// | `phases` | positions far above the tables, with estimates of their scores |
// | `sample` | positions with their scores, from searches |
// | `search_sampler` | searches of positions of random games |
// | `trainer` | sampling and training |

mod error;
mod fit;
mod model;
mod phases;
mod sample;
mod search_sampler;
mod trainer;

pub use error::TrainError;
pub use fit::Fit;
pub use sample::TrainingSample;
pub use trainer::{LEAST_TABLE_SEEDS, Trained, Trainer};
