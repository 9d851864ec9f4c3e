//! The effect of moves on rows, in terms of ranks: on all rows with the same number of seeds at
//! once.
//!
//! The effect of a move on the mover's row depends on that row alone. To the other row it adds
//! seeds from the first pit on, or it captures one pit.

// | module | contents |
// |---|---|
// | `moves` | the part of a move that the mover's row determines; the moves of all rows, by rank |
// | `maps` | the effect of a move, or of a capture, on the ranks of all other rows |
// | `crossings` | relays of different rows that are alike once they reach the other row |
// | `relay` | the endings of relays, for all other rows that they meet alike |
// | `rank_sums` | ranks as sums, for many rows that differ by the same seeds |

mod crossings;
mod maps;
mod moves;
mod rank_sums;
mod relay;

pub use crossings::{Crossing, Crossings};
pub use maps::{CaptureMap, CapturePart, RowMaps, SpillMap};
pub use moves::{BoardRows, ForwardMove, Kind, Moves, QuietMove, RowMove};
pub use rank_sums::{OffsetList, RankOffsets, RankSums, RanksFrom};
pub use relay::{Ending, Relays};
