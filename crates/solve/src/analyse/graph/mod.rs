//! Game graphs: all positions that can be reached from a start, with both stores and the side to move.
//!
//! Seeds in play never increase, so the graph is explored layer by layer, most seeds first. A layer falls into *subgraphs*:
//! the positions with the same stores (Irving, Donkers, Uiterwijk 2000, section 2.4). A subgraph is kept as bit matrices,
//! one for each side to move and number of seeds in the first player's row, the rows being numbered by their ranks. Of all
//! positions that fit a board some 4 to 9 % are reached, so a bit each is less than any list of them.
//!
//! | module | what it holds |
//! |---|---|
//! | [`convention`](Convention) | which positions count as different, and where games end |
//! | `space` | the bit matrices, and the memory they take |
//! | `graph_rows` | the rows of a board, their maps and moves |
//! | `expand` | the children of all positions of a subgraph with the same seeds in the rows |
//! | `tally` | counting a layer: outcomes, moves |
//! | [`explore`](Explorer) | layers in order |

mod convention;
mod expand;
mod explore;
mod graph_rows;
mod space;
mod tally;

pub use convention::{Convention, UnknownConvention, state_space};
pub use explore::{Explorer, GameGraph, GraphError, Layer, Need};
pub use tally::{Branching, Outcomes, Subgraph};
