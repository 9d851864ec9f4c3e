//! Planning: the tables that a search has, those that it should have, and those that fit memory and disk.

// | module | contents |
// |---|---|
// | `search_tables` | the tables of a search in a directory or made in memory; the network for new bound tables |
// | `search_plan` | the recommended tables for a search with a given memory and disk, and the missing ones |

mod search_plan;
mod search_tables;

pub use search_plan::{LayerKind, PlannedLayer, PlannedSearch, SearchPlan};
pub use search_tables::{SearchTables, bound_network, seeds_within};
