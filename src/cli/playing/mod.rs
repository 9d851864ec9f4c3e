//! Commands that play.
//!
//! | module | command |
//! |---|---|
//! | `play` | `kalah play` |
//! | `choose` | `kalah move` |
//! | `tournament` | `kalah tournament` |
//! | `puzzles` | `kalah puzzles` |

pub mod choose;
pub mod play;
pub mod puzzles;
pub mod tournament;
