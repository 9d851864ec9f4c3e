//! Openings: who wins how soon, by looking ahead whole turns (Kvitberg 2026, section 5).
//!
//! | room | idea |
//! |---|---|
//! | [`ring`](Ring) | a board as one ring, for sowing many seeds fast |
//! | `turn` | all that a player can do within one turn |
//! | [`outcome`](outcome()) | wins, draws and losses, turn by turn, with the lines that prove them |
//! | [`check`](check()) | these lines checked by the rules alone |
//! | [`scan`](Scan) | the outcomes of many start positions, on all threads |
//! | [`state`](ScanState) | the file in which a scan keeps what is done |

mod check;
mod outcome;
mod ring;
mod scan;
mod state;
mod turn;

pub use check::{CheckError, check};
pub use outcome::{Limits, MAX_LINES, Outcome, Verdict, outcome, winning_opening};
pub use ring::{Ring, Sown};
pub use scan::{Game, Part, Piece, Scan, ScanError, Tally, cut};
pub use state::{ScanState, StateError};
