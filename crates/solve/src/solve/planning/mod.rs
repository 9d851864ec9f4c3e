//! Planning: which tables a search has, which it should have, and what fits memory and disk.
//!
//! | module | contents |
//! |---|---|
//! | `search_tables` | [the tables](SearchTables) of a search in a directory, and why others are not used |
//! | `table_plan` | [which tables](TablePlan) to have for a search with so much memory |
//! | `planned_search` | [a search](PlannedSearch) that tables are planned for: what is missing, and what of it fits the disk |
//! | `bound_network` | [the evaluation network](BoundNetwork) of new bound tables |

mod bound_network;
mod planned_search;
mod search_tables;
mod table_plan;

pub use bound_network::{BoundNetwork, bound_tables};
pub use planned_search::{MissingTables, PlannedLayer, PlannedSearch};
pub use search_tables::{SearchTables, Unused, UnusedBounds};
pub use table_plan::{LayerKind, TablePlan};
