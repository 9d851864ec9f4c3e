//! Solving positions above the tables: MTD(f) over zero-window tests.
//!
//! | module | what it holds |
//! |---|---|
//! | `packed` | [rows in a word](Word), [sown by table](Sower), [numbered](Keys) without gaps |
//! | `bounds` | what is proved of [scores](Bounds) and [values](ValueBounds) |
//! | `probing` | scores of tables as a search reads them; whether these tables were compared with their checksums |
//! | `transposition` | bounds of positions searched before, shared by threads; their file; how much memory they need |
//! | `evaluation` | heuristic values of positions, learned from the tables, and of moves, to order them |
//! | `depth_limited` | searches to a [depth](Depth): of evaluations alone, with proved bounds, and by [the methods of published work](LimitedSearch) |
//! | `zero_window` | the test whether a score is at least so much: one thread of it |
//! | `move_order` | the order of a position's moves where it is not searched |
//! | `engine` | all of the above for one word; tests on all threads |
//! | `options` | what a solver [works with](SolverOptions) |
//! | [`solver`](Solver) | the word for a board, MTD(f) over tests |
//! | `heuristic` | what it finds without proof: a [first guess](Solver::first_guess), [depth-limited searches](Solver::depth_limited) |
//! | `solution` | [best moves, a line of best play, openings](Solution) |
//! | `narrowing` | what can be proved of a value [in a given time](Solver::narrow) |
//! | `checkpoint` | saving a search and [resuming it](Checkpoint) |
//! | `error` | [why there is no result](SolveError) |

mod bounds;
mod checkpoint;
mod depth_limited;
mod engine;
mod error;
mod evaluation;
mod heuristic;
mod move_order;
mod narrowing;
mod options;
mod packed;
mod probing;
mod solution;
mod solver;
mod transposition;
mod zero_window;

pub use bounds::{Bounds, ValueBounds};
pub use checkpoint::{Checkpoint, CheckpointError, Resumed};
pub(crate) use depth_limited::{Deepening, MAX_MOVES, deepen};
pub use depth_limited::{Depth, DepthLimitedResult, Evaluation, LimitedResult, LimitedSearch, Method};
pub use error::SolveError;
pub use options::SolverOptions;
pub use packed::{Board, Keys, MAX_BOARD_SEEDS, Sower, Sown, Word};
pub use solution::{Opening, Solution};
pub use solver::{Event, Solver};
