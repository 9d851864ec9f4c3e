//! The effect of moves on rows, in terms of ranks: on all rows with the same number of seeds at
//! once.
//!
//! The effect of a move on the mover's row depends on that row alone. To the other row it adds
//! seeds from the first pit on, or it captures one pit.

// | module | contents |
// |---|---|
// | `row_move` | the part of a move that the mover's row determines |
// | `moves` | the moves of all rows with the same seeds, by rank |
// | `maps` | the effect of a move on the ranks of all other rows |
// | `capture_map` | the effect of a capture on all other rows |
// | `crossings` | relays of different rows that are alike once they reach the other row |
// | `relay` | the endings of relays, for all other rows that they meet alike |
// | `rank_sums` | ranks as sums, for many rows that differ by the same seeds |
// | `board_rows` | moves and maps of the rows of a board, for all layers |

mod board_rows;
mod capture_map;
mod crossings;
mod maps;
mod moves;
mod rank_sums;
mod relay;
mod row_move;

pub use board_rows::BoardRows;
pub use capture_map::{CaptureMap, CapturePart};
pub use crossings::{Crossing, Crossings};
pub use maps::{RowMaps, SpillMap};
pub use moves::{ForwardMove, Kind, Moves, QuietMove};
pub use rank_sums::{OffsetList, RankOffsets, RankSums, RanksFrom};
pub use relay::{Ending, Relays};
pub use row_move::RowMove;
