//! Openings: the winner of a game and in how many turns, by a search turn by turn (Kvitberg 2026, section 5).

// | module | contents |
// |---|---|
// | `ring` | a board as one ring, for sowing many seeds fast |
// | `outcome` | wins, draws and losses; verdicts on positions, and their lines checked by the rules alone |
// | `turn` | all moves of a player within one turn |
// | `turn_tree`(outcome()) | the search, turn by turn, and the lines that prove its verdict |
// | `scan` | the verdicts on many start positions, on all threads; the file with the finished ones |

mod outcome;
mod ring;
mod scan;
mod turn;
mod turn_tree;

pub use outcome::{Limits, MAX_LINES, Outcome, Verdict, VerdictError, check};
pub use ring::{Ring, RingEnd};
pub use scan::{Batch, OpeningScan, ScanError, ScanTally, ScannedStart, StartRange, open_state, split};
pub use turn_tree::{outcome, winning_opening};
