//! Depth-limited searches: their values are evaluations, not proofs.

mod deepening;
mod depth;
mod findings;
mod methods;
mod proved_bounds;
mod static_leaves;

pub use deepening::{Deepening, MAX_MOVES, deepen};
pub use depth::Depth;
pub(crate) use findings::Findings;
pub use methods::{Evaluation, LimitedResult, LimitedSearch, Method};
pub(crate) use proved_bounds::BoundedSearch;
pub use proved_bounds::DepthLimitedResult;
pub(crate) use static_leaves::{LIMIT, StaticSearch, next_window};
