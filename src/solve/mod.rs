//! Solving positions above the tables: MTD(f) over zero-window tests.
//!
//! | room | idea |
//! |---|---|
//! | [`board`](Board) | both rows packed for speed; sowing by table |
//! | [`key`](Keys) | an exact number for each position |
//! | [`transposition`](TranspositionTable) | proved bounds of positions, shared by threads |
//! | `prober` | scores from tables, by the numbers of rows |
//! | `estimate` | scores guessed from the seeds of each pit, learned from the tables (by `least_squares`) |
//! | `lookahead` | the same some turns later |
//! | `order` | which move is searched first |
//! | `expansion` | a position with its moves played |
//! | `search` | the zero-window test: one thread of it |
//! | [`solver`](Solver) | tests on all threads, MTD(f) over them |
//! | [`guess`](Solver::first_guess) | with which value to begin |
//! | [`anytime`](ValueBounds) | what can be proved of a value in a given time |
//! | [`outlook`](Outlook) | which move looks best where nothing is proved |
//! | [`checkpoint`](Checkpoint) | saving a search and taking it up again |
//! | [`solution`](Solution) | best moves, a line of best play, openings |
//! | [`limited`](LimitedSearch) | without tables to a limited depth, for comparison with published work |

mod anytime;
mod board;
mod checkpoint;
mod estimate;
mod expansion;
mod guess;
mod key;
mod least_squares;
mod limited;
mod lookahead;
mod order;
mod outlook;
mod prober;
mod search;
mod solution;
mod solver;
mod transposition;

pub use anytime::ValueBounds;
pub use board::{Board, MAX_BOARD_PITS, MAX_BOARD_SEEDS, Sower, Sown};
pub use checkpoint::{Checkpoint, CheckpointError};
pub use key::Keys;
pub use limited::{Evaluation, LimitedResult, LimitedSearch, Method};
pub use outlook::Outlook;
pub use solution::{Opening, Solution};
pub use solver::{Event, SolveError, Solver, SolverOptions, default_memory};
pub use transposition::{Bounds, Slot, TranspositionTable};
