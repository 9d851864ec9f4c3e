use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::transposition::table_bytes;
use crate::evaluation::Network;
use crate::game::{Position, Rules};
use crate::system::available_memory;
use crate::table::Tables;

/// Options of a [`Solver`](super::Solver).
///
/// ```
/// use kalah::game::{Position, Rules};
/// use kalah::solve::{Solver, SolverOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let start: Position = "4x2".parse()?;
/// let solver = Solver::new(SolverOptions::new(Rules::EmptyCapture, &start).memory(1 << 20))?;
/// let guess = solver.first_guess(&start)?;
/// assert_eq!(solver.solve(&start, guess)?.value, 6);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SolverOptions<'a> {
    pub(super) rules: Rules,
    pub(super) pits: usize,
    pub(super) seeds: usize,
    pub(super) tables: Option<&'a Tables>,
    pub(super) tables_up_to: usize,
    pub(super) network: Option<&'a Network>,
    memory: Memory,
    copies: Copies,
    pub(super) threads: usize,
    pub(super) stop: Arc<AtomicBool>,
}

/// Bytes of the transposition table.
#[derive(Clone, Copy, Debug)]
enum Memory {
    Exactly(u64),
    /// Depending on the size of the problem, at most this.
    AtMost(u64),
    /// Depending on the size of the problem, at most a quarter of the available memory.
    Available,
}

/// Bytes of tables that may be copied to memory.
#[derive(Clone, Copy, Debug)]
enum Copies {
    AtMost(u64),
    /// Half of the memory available after the transposition table.
    Available,
}

impl<'a> SolverOptions<'a> {
    /// Options for `position` and all that can follow it: no tables, one thread, no stop flag, and a transposition
    /// table whose size depends on the problem, at most a quarter of the available memory.
    pub fn new(rules: Rules, position: &Position) -> SolverOptions<'a> {
        SolverOptions {
            rules,
            pits: position.pits(),
            seeds: position.seeds() as usize,
            tables: None,
            tables_up_to: usize::MAX,
            network: None,
            memory: Memory::Available,
            copies: Copies::AtMost(0),
            threads: 1,
            stop: Arc::default(),
        }
    }

    /// Sets the tables to use; they must have the same rules and pits.
    #[must_use]
    pub fn tables(self, tables: Option<&'a Tables>) -> SolverOptions<'a> {
        SolverOptions { tables, ..self }
    }

    /// Sets the seeds of the largest layer to use; all layers by default.
    #[must_use]
    pub fn tables_up_to(self, seeds: usize) -> SolverOptions<'a> {
        SolverOptions { tables_up_to: seeds, ..self }
    }

    /// Sets the network that evaluates positions, for the same rules and pits. By default it is that of the tables'
    /// directory or the shipped one ([`Network::find`]). Where there is neither, evaluations are learned from the tables;
    /// without tables they are half of the seeds in play.
    #[must_use]
    pub fn network(self, network: Option<&'a Network>) -> SolverOptions<'a> {
        SolverOptions { network, ..self }
    }

    /// Sets the bytes of the transposition table, rounded down to a power of two.
    #[must_use]
    pub fn memory(self, bytes: u64) -> SolverOptions<'a> {
        SolverOptions { memory: Memory::Exactly(bytes), ..self }
    }

    /// Sets the most bytes of the transposition table; for a small problem it has fewer.
    #[must_use]
    pub fn memory_up_to(self, bytes: u64) -> SolverOptions<'a> {
        SolverOptions { memory: Memory::AtMost(bytes), ..self }
    }

    /// Sets the bytes of tables that may be copied to memory, after two seconds of searching; 0 by default.
    #[must_use]
    pub fn copy_up_to(self, bytes: u64) -> SolverOptions<'a> {
        SolverOptions { copies: Copies::AtMost(bytes), ..self }
    }

    /// Copies tables to memory if it is available: half of what the transposition table leaves, since the files stay in
    /// the page cache as well.
    #[must_use]
    pub fn copy_what_fits(self) -> SolverOptions<'a> {
        SolverOptions { copies: Copies::Available, ..self }
    }

    /// Sets the threads of a search, at least 1.
    #[must_use]
    pub fn threads(self, threads: usize) -> SolverOptions<'a> {
        SolverOptions { threads, ..self }
    }

    /// Sets a flag that ends all searches with [`SolveError::Stopped`](super::SolveError::Stopped) when it becomes
    /// true.
    #[must_use]
    pub fn stop(self, stop: Arc<AtomicBool>) -> SolverOptions<'a> {
        SolverOptions { stop, ..self }
    }

    /// Bytes of the transposition table, and of tables that may be copied.
    pub(super) fn bytes(&self) -> (u64, u64) {
        let asks = matches!((self.memory, self.copies), (Memory::Available, _) | (_, Copies::Available));
        let available = if asks { available_memory().unwrap_or(0) } else { 0 };
        let reach = self.tables.and_then(Tables::max_seeds).unwrap_or(0).min(self.tables_up_to);
        let by_size = |most| table_bytes(self.pits, self.seeds, reach, most);
        let memory = match self.memory {
            Memory::Exactly(bytes) => bytes,
            Memory::AtMost(bytes) => by_size(bytes),
            Memory::Available => by_size(available / 4),
        };
        let copies = match self.copies {
            Copies::AtMost(bytes) => bytes,
            Copies::Available => available.saturating_sub(memory) / 2,
        };
        (memory, copies)
    }
}

impl fmt::Debug for SolverOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SolverOptions { rules, pits, seeds, tables, tables_up_to, network, memory, copies, threads, stop } = self;
        f.debug_struct("SolverOptions")
            .field("rules", rules)
            .field("pits", pits)
            .field("seeds", seeds)
            .field("tables", &tables.and_then(Tables::max_seeds))
            .field("tables_up_to", tables_up_to)
            .field("network", &network.is_some())
            .field("memory", memory)
            .field("copies", copies)
            .field("threads", threads)
            .field("stop", stop)
            .finish()
    }
}
