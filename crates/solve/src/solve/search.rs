//! The interface between solvers and engines.

use std::sync::atomic::{AtomicU64, Ordering};

use kalah_core::cancel::{Cancel, Instant};
use kalah_core::game::{Bounds, Position};
use kalah_core::table::TableError;

use super::depth_limited::{Depth, DepthLimitedResult};
use super::error::SolveError;
use super::memory::Copies;

/// The limits and counters of a test.
pub(super) struct Run<'s> {
    pub threads: usize,
    /// Settings of copying tables to memory.
    pub copies: Copies,
    /// Start of the search.
    pub start: Instant,
    pub cancel: &'s Cancel,
    pub nodes: &'s AtomicU64,
    /// Nodes before the test, and the maximum that it may add.
    pub before: u64,
    pub limit: u64,
    pub hits: &'s AtomicU64,
}

impl Run<'_> {
    /// Number of nodes at which the test ends.
    pub(crate) fn most_nodes(&self) -> u64 {
        self.before.saturating_add(self.limit)
    }

    /// Returns an error if the test must end now.
    pub(crate) fn check(&self) -> Result<(), SolveError> {
        self.cancel.check()?;
        let is_over = self.nodes.load(Ordering::Relaxed) >= self.most_nodes();
        if is_over { Err(SolveError::NodeLimit { nodes: self.limit }) } else { Ok(()) }
    }

    /// The reason why a test without a result has ended.
    pub(crate) fn ended(&self) -> SolveError {
        self.check().err().unwrap_or(SolveError::Stopped)
    }
}

/// The interface of an [`Engine`](super::engine::Engine), independent of its word. All positions must fit it;
/// their stores do not matter.
pub(super) trait Search: Send + Sync {
    /// The largest layer of exact tables in use; 0 for none.
    fn exact(&self) -> usize;

    /// The largest layer of tables in use, exact or of bounds; 0 for none.
    fn reach(&self) -> usize;

    /// Bounds of the score of `position` from the rules, tables, the book, complete tests, and the transposition
    /// table.
    fn known(&self, position: &Position) -> Result<Bounds, TableError>;

    /// A lower bound of the nodes that proving the bounds of `position` in the transposition table took; 0 if
    /// it is not there.
    fn work(&self, position: &Position) -> u64;

    /// Accepts bounds of the score of `position` as proved by complete tests, unless they contradict other
    /// proved bounds.
    fn add_proof(&self, position: &Position, proved: Bounds) -> Result<(), SolveError>;

    /// Forgets all proved bounds except those of the tables and the book. No search may be running.
    fn forget(&self);

    /// A fail-soft test on all threads whether the mover collects `score`. Returns a bound of the score.
    fn test(&self, position: &Position, score: u32, run: &Run) -> Result<u32, SolveError>;

    /// Evaluates a position to a depth of `turns` turns, in sixteenths of a seed, with static evaluations only.
    /// Each node decrements `left`; at 0 the search goes no deeper. A stop sets it to 0.
    fn evaluate(&self, position: &Position, turns: u32, left: &mut u32, cancel: &Cancel) -> i32;

    /// A depth-limited search with all proved bounds and at most `budget` nodes; `None` if the game is over.
    fn depth_limited(
        &self,
        position: &Position,
        depth: Depth,
        budget: u64,
        cancel: &Cancel,
    ) -> Result<Option<DepthLimitedResult>, SolveError>;

    /// The share of the transposition table in use.
    fn fill(&self) -> f64;

    /// Writes the transposition table, with all that complete tests proved, for the search that `line` identifies.
    #[cfg(not(target_family = "wasm"))]
    fn save(&self, line: &[u8], out: &mut dyn std::io::Write) -> std::io::Result<()>;

    /// Loads a saved transposition table of the search that `line` identifies. Returns the number of its entries, or
    /// the reason why it is invalid; then the table is empty.
    #[cfg(not(target_family = "wasm"))]
    fn load(&mut self, line: &[u8], saved: &mut dyn std::io::BufRead) -> std::io::Result<u64>;
}
