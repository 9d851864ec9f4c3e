//! The zero-window test: can the mover of a position collect a given number of seeds?

mod expansion;
mod ordering;
mod orders;
mod worker;

pub(crate) use expansion::{Expander, Node};
pub(crate) use orders::SharedOrders;
pub(crate) use worker::{Shared, Worker, unkept};
