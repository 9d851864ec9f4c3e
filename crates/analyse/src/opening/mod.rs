//! Openings: the winner of a game and in how many turns, by a search turn by turn (Kvitberg 2026, section 5).

// | module | contents |
// |---|---|
// | `outcome` | wins, draws and losses, and verdicts on positions |
// | `turn` | all moves of a player within one turn |
// | `turn_tree`(outcome()) | the search, turn by turn, and the lines that prove its verdict |
// | `check`(check()) | these lines checked by the rules alone |
// | `scan` | the verdicts on many start positions, on all threads |
// | `state` | the file with the finished part of a scan |

mod check;
mod outcome;
mod scan;
mod state;
mod turn;
mod turn_tree;

pub use check::{VerdictError, check};
pub use outcome::{Limits, MAX_LINES, Outcome, Verdict};
pub use scan::{Batch, OpeningScan, ScanError, ScanTally, ScannedStart, StartRange, split};
pub use state::open_state;
pub use turn_tree::{outcome, winning_opening};
