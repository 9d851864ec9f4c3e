//! Planning: the tables that a search has, those that it should have, and those that fit memory and disk.

// | module | contents |
// |---|---|
// | `search_tables` | the tables of a search in a directory, and reasons why others are not
// used; the network for new bound tables |
// | `table_plan` | the recommended tables for a search with a given memory |
// | `planned_search` | a search with planned tables: those that are missing, and those that
// fit the disk |

mod planned_search;
mod search_tables;
mod table_plan;

pub use planned_search::{MissingTables, PlannedLayer, PlannedSearch};
pub use search_tables::{BoundNetwork, SearchTables, UnusedBounds, bound_tables, seeds_within};
pub use table_plan::{LayerKind, TablePlan};
