//! Training evaluation networks (docs/evaluation.md in the repository).

// | module | contents |
// |---|---|
// | `model` | the network during training |
// | `phases` | positions far above the tables, with estimates of their scores |
// | `sample` | positions with their scores, from searches; errors of training |
// | `search_sampler` | searches of positions of random games |
// | `trainer` | sampling and training; the fit of evaluations to scores |

mod model;
mod phases;
mod sample;
mod search_sampler;
mod trainer;

pub use sample::TrainError;
pub use trainer::{Fit, LEAST_TABLE_SEEDS, Trained, Trainer};
