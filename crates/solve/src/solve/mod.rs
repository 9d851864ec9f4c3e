//! Solving positions above the tables: MTD(f) over zero-window tests.

// | module | contents |
// |---|---|
// | `packed` | rows in a word, sown by table, numbered without gaps |
// | `probing` | fast reading of scores from tables; comparing these tables with their checksums |
// | `transposition` | bounds of positions already searched, shared by threads; their file; their memory |
// | `evaluation` | heuristic values of positions, learned from the tables, and of moves, to order them |
// | `depth_limited` | searches to a depth: with evaluations alone, with proved bounds, by published methods |
// | `zero_window` | the zero-window test, on one thread |
// | `ends` | conditions that end a search before it has a result |
// | `search` | the interface of an engine |
// | `engine` | all of the above for one word; tests on all threads |
// | `memory` | division of memory among transposition table, page cache and copies of tables |
// | `options` | memory, threads, tables of a solver |
// | `solver` | the word for a board, MTD(f) over tests |
// | `heuristic` | unproved results: a first guess, depth-limited searches |
// | `planning` | the tables of a search: existing ones, and those to make |
// | `solution` | best moves, a line of best play, openings |
// | `narrowing` | bounds of a value in a given time |
// | `checkpoint` | saving a search and resuming it |
// | `error` | errors of a solver |

#[cfg(not(target_family = "wasm"))]
mod checkpoint;
mod depth_limited;
mod ends;
mod engine;
mod error;
mod evaluation;
mod heuristic;
mod memory;
mod narrowing;
mod options;
mod packed;
mod planning;
mod probing;
mod search;
mod solution;
mod solver;
mod transposition;
mod zero_window;

#[cfg(not(target_family = "wasm"))]
pub use checkpoint::Checkpoint;
pub use depth_limited::{
    Deepening, Depth, DepthLimitedResult, DepthSchedule, Evaluation, LimitedResult, LimitedSearch, MAX_MOVES, Method,
    deepen,
};
pub use error::SolveError;
pub use memory::SearchMemory;
pub use options::SolverOptions;
pub use packed::{Board, BoardKeys, Sower, Sown, Word};
pub use planning::{LayerKind, PlannedLayer, PlannedSearch, SearchPlan, SearchTables, bound_network, seeds_within};
pub use solution::{Opening, Solution};
pub use solver::{SolveEvent, Solver};
