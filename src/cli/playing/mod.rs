//! Commands that play.
//!
//! | module | command |
//! |---|---|
//! | `play` | `kalah play` |
//! | `choose` | `kalah move` |
//! | `tournament` | `kalah tournament` |
//! | `puzzles` | `kalah puzzles` |

pub(super) mod choose;
pub(super) mod play;
pub(super) mod puzzles;
pub(super) mod tournament;
