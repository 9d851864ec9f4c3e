//! Whole boards: the tables of the papers, computed.
//!
//! | room | idea |
//! |---|---|
//! | [`values`](GameValues) | the values of games, board by board, kept in a file |

mod values;

pub use values::{GameValue, GameValues, GameValuesError};
