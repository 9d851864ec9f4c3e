//! Commands that play.
//!
//! | module | command |
//! |---|---|
//! | `play` | `kalah play` |
//! | `choose` | `kalah move` |
//! | `tournament` | `kalah tournament` |
//! | `puzzles` | `kalah puzzles` |
//! | `strategy` | certificates as players, for `play` and `choose` |

pub mod choose;
pub mod play;
pub mod puzzles;
pub mod strategy;
pub mod tournament;
