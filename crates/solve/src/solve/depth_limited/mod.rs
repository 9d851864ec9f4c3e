//! Depth-limited searches. Their values are evaluations, not proofs, unless a result is marked as exact.

// | module | contents |
// |---|---|
// | `deepening` | the depth of a search: a number of turns or moves; iterative deepening |
// | `proved_bounds` | searches that use proved bounds where they exist |
// | `static_leaves` | searches with static evaluations alone, for move ordering |
// | `findings` | results of the latter, kept for later searches |
// | `methods` | published methods, by the rules alone |

mod deepening;
mod findings;
mod methods;
mod proved_bounds;
mod static_leaves;

pub use deepening::{Deepening, Depth, DepthSchedule, MAX_MOVES, deepen};
pub(crate) use findings::{Findings, Window};
pub use methods::{Evaluation, LimitedResult, LimitedSearch, Method};
pub(crate) use proved_bounds::BoundedSearch;
pub use proved_bounds::DepthLimitedResult;
pub(crate) use static_leaves::{LIMIT, StaticSearch};
