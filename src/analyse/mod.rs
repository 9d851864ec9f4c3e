//! Whole boards: the tables of the papers, computed.
//!
//! | room | idea |
//! |---|---|
//! | [`values`](GameValues) | the values of games, board by board, kept in a file |
//! | [`opening`] | who wins how soon, turn by turn, on boards with any number of seeds |

pub mod opening;
mod values;

pub use values::{GameValue, GameValues, GameValuesError};
