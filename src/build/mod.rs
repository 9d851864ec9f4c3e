//! Computing tables, layer by layer.
//!
//! | room | idea |
//! |---|---|
//! | [`cpu`] | the scores of one pair of mirrored frames, on all cores |
//! | [`plan`](Plan) | what a build will need, said before it begins |
//! | [`driver`](Builder) | layers in order, resuming, writing beside computing |
//! | [`lock`](DirectoryLock) | one build at a time in a directory |
//! | [`log`](BuildRecord) | how long each layer took |

pub mod cpu;
mod driver;
mod lock;
mod log;
mod plan;

pub use driver::{BuildError, BuildReport, Builder, Event, build};
pub use lock::{DirectoryLock, LockError};
pub use log::BuildRecord;
pub use plan::{Plan, PlanError};
