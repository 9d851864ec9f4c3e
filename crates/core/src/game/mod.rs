//! The rules of the game and nothing else: rule sets, positions, sowing, notation.
//!
//! | module | contents |
//! |---|---|
//! | [`rules`](Rules) | the rule sets: names and properties |
//! | [`row`](Row) | the pits of one side |
//! | [`position`](Position) | two rows, two stores, the mover; playing a move |
//! | [`sowing`](sow) | the effect of one move on the two rows |
//! | [`score`](mover_score) | the mover's score from the score of a child |
//! | [`bounds`](Bounds) | bounds of scores and values |
//! | [`trace`](Trace) | a move seed by seed, for display |
//! | [`notation`](ParseError) | board literals, start positions, lines of play |

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
