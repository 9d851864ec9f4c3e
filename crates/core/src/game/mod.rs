//! The rules of the game and nothing else: rule sets, positions, sowing, notation.

// | module | contents |
// |---|---|
// | `rules` | the rule sets: names and properties |
// | `row` | the pits of one side |
// | `position` | two rows, two stores, the mover; playing a move |
// | `sowing` | the effect of one move on the two rows |
// | `score` | the mover's score from the score of a child |
// | `bounds` | bounds of scores and values |
// | `trace` | a move seed by seed, for display |
// | `notation` | board literals, start positions, lines of play |

mod bounds;
mod notation;
mod position;
mod row;
mod rules;
mod score;
mod sowing;
mod trace;

pub use bounds::{Bounds, ValueBounds};
pub use notation::{Line, ParseError, Place, StartPosition};
pub use position::{IllegalMove, Played, Position, PositionError};
pub use row::{MAX_PITS, Pit, Row};
pub use rules::{Capture, Rules, UnknownRules};
pub use score::{mover_score, mover_value};
pub use sowing::{Sowing, sow};
pub use trace::{Lift, Trace};
