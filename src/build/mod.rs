//! Computing tables, layer by layer.
//!
//! | room | idea |
//! |---|---|
//! | [`cpu`] | the scores of one pair of mirrored frames, on all cores |
//! | [`plan`](Plan) | what a build will need, said before it begins |
//! | [`driver`](Builder) | layers in order, resuming, writing beside computing |
//! | [`log`](BuildRecord) | how long each layer took |

pub mod cpu;
mod driver;
mod log;
mod plan;

pub use driver::{BuildError, BuildReport, Builder, Event, build};
pub use log::BuildRecord;
pub use plan::{Plan, PlanError};
