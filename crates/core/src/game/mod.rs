//! The rules of the game and nothing else: rule sets, positions, sowing, notation.

// | module | contents |
// |---|---|
// | `rules` | the rule sets: names and properties |
// | `row` | the pits of one side |
// | `position` | two rows, two stores, the mover; playing a move, and scores before it from those after it |
// | `sowing` | the effect of one move on the two rows, also seed by seed |
// | `notation` | board literals, start positions, lines of play |

mod notation;
mod position;
mod row;
mod rules;
mod sowing;

pub use notation::{Line, ParseError, Place, StartPosition};
pub use position::{Bounds, IllegalMove, Played, Position, PositionError, ValueBounds, mover_score, mover_value};
pub use row::{MAX_PITS, Pit, Row};
pub use rules::{Capture, Rules, UnknownRules};
pub use sowing::{Lift, Sowing, Trace, sow};
