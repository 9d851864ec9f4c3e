//! Openings: the winner of a game and in how many turns, by a search turn by turn (Kvitberg 2026, section 5).

// | module | contents |
// |---|---|
// | `verdict` | wins, draws and losses; verdicts on positions, and their lines checked by the rules alone |
// | `turn` | all moves of a player within one turn |
// | `turn_tree`(outcome()) | the search, turn by turn, and the lines that prove its verdict |
// | `scan` | the verdicts on many start positions, on all threads |

mod scan;
mod turn;
mod turn_tree;
mod verdict;

pub use scan::{OpeningScan, Scan, ScanError, ScanTally, ScannedBoard, ScannedStart, StartRange};
pub use turn_tree::outcome;
pub use verdict::{Limits, MAX_LINES, Outcome, Verdict, check};
