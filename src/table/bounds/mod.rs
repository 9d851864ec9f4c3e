//! Making bound tables from exact ones.
//!
//! | module | what it holds |
//! |---|---|
//! | [`maker`](BoundMaker) | a bound table, frame by frame, in memory or in a file |
//! | `codes` | the codes of the positions of a frame |

mod codes;
mod maker;

pub use maker::BoundMaker;
