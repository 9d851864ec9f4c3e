//! Training evaluation networks (docs/evaluation.md in the repository).
//!
//! | module | what it holds |
//! |---|---|
//! | `error` | [why there is no network](TrainError) |
//! | `explorer` | searches of positions of random games |
//! | `fit` | [how well evaluations fit scores](Fit) |
//! | `model` | the network while it is trained |
//! | `sample` | [positions with exact scores](Sample), from these searches |
//! | `trainer` | [all of it](Trainer) |

mod error;
mod explorer;
mod fit;
mod model;
mod sample;
mod trainer;

pub use error::TrainError;
pub use fit::Fit;
pub use sample::Sample;
pub use trainer::{LEAST_TABLE_SEEDS, Trained, Trainer};
