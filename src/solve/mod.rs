//! Solving positions above the tables: MTD(f) over zero-window tests.
//!
//! | room | idea |
//! |---|---|
//! | [`word`](Word) | what holds a row: 64 bits, or 128 for boards of more than 8 pits a side |
//! | [`board`](Board) | both rows packed for speed; sowing by table |
//! | [`key`](Keys) | an exact number for each position |
//! | `transposition` | proved [bounds](Bounds) of positions, shared by threads |
//! | `prober` | scores from tables, by the numbers of rows |
//! | `audit` | whether these tables were compared with their checksums: no result before that |
//! | `estimate` | scores guessed from the seeds of each pit, learned from the tables (by `least_squares`) |
//! | `lookahead` | the same some turns later |
//! | `order` | which move is searched first |
//! | `expansion` | a position with its moves played |
//! | `search` | the zero-window test: one thread of it |
//! | `engine` | all of the above for one word; tests on all threads |
//! | [`solver`](Solver) | the word for a board, MTD(f) over tests |
//! | [`memory`](default_memory) | how much of it a search needs |
//! | [`guess`](Solver::first_guess) | with which value to begin |
//! | [`anytime`](ValueBounds) | what can be proved of a value in a given time |
//! | [`horizon`](Ahead) | how far a look goes, and looking farther and farther |
//! | [`outlook`](Outlook) | which move looks best where nothing is proved |
//! | [`checkpoint`](Checkpoint) | saving a search and taking it up again |
//! | `saved` | the transposition table in a file |
//! | [`solution`](Solution) | best moves, a line of best play, openings |
//! | [`limited`](LimitedSearch) | without tables to a limited depth, for comparison with published work |

mod anytime;
mod audit;
mod board;
mod checkpoint;
mod engine;
mod estimate;
mod expansion;
mod guess;
mod horizon;
mod key;
mod least_squares;
mod limited;
mod lookahead;
mod memory;
mod order;
mod outlook;
mod prober;
mod saved;
mod search;
mod solution;
mod solver;
mod transposition;
mod word;

pub use anytime::ValueBounds;
pub use board::{Board, Sower, Sown};
pub use checkpoint::{Checkpoint, CheckpointError, TakenUp};
pub use horizon::Ahead;
pub(crate) use horizon::{Looked, MOST_MOVES, look_farther};
pub use key::Keys;
pub use limited::{Evaluation, LimitedResult, LimitedSearch, Method};
pub use memory::default_memory;
pub use outlook::Outlook;
pub use solution::{Opening, Solution};
pub use solver::{Event, MAX_BOARD_SEEDS, SolveError, Solver, SolverOptions};
pub use transposition::Bounds;
pub use word::Word;
