//! Game graphs: all positions that can be reached from a start, with both stores and the side to move.
//!
//! Seeds in play never increase, so the graph is explored layer by layer, most seeds first. A layer consists of
//! *subgraphs*: the positions with the same stores (Irving, Donkers, Uiterwijk 2000, section 2.4). A subgraph
//! is stored as bit matrices, one for each side to move and number of seeds in the first player's row. Their
//! rows and columns are numbered by rank. About 4 to 9 % of the positions of a board can be reached, so one bit
//! each takes less than any list.

// | module | contents |
// |---|---|
// | `space` | which positions differ; the rows of a board; the bit matrices, and the memory they take |
// | `expand` | the children of all positions of a subgraph with the same seeds in the rows |
// | `tally` | counting a layer: outcomes, moves |
// | `explore` | layers in order |

mod expand;
mod explore;
mod space;
mod tally;

pub use explore::{Explorer, GameGraph, GraphError, GraphLayer, Need};
pub use space::{Convention, state_space};
pub use tally::{Branching, Outcomes, Subgraph};
