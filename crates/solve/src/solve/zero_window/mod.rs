//! The zero-window test: can the mover of a position collect a given number of seeds?

// | module | contents |
// |---|---|
// | `worker` | the test on one thread, and the data that all threads share |
// | `expansion` | playing the moves of a position: those to search, and those with bounds in tables |
// | `ordering` | move-ordering scores by static evaluations and depth-limited searches |
// | `orders` | these scores, shared by threads |

mod expansion;
mod ordering;
mod orders;
mod worker;

pub(crate) use expansion::{Expander, Node};
pub(crate) use orders::SharedOrders;
pub(crate) use worker::{Shared, Worker, unkept};
