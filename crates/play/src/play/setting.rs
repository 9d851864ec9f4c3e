use kalah_core::game::{Position, Rules};
use kalah_core::table::{BoundTables, Tables};
use kalah_solve::book::Book;
use kalah_solve::solve::{SearchMemory, SolverOptions};

/// Settings of players.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'t> {
    /// The rule set.
    pub rules: Rules,
    /// Tables of these rules, for the perfect player.
    pub tables: Option<&'t Tables>,
    /// Bound tables of these rules, for its solver above the tables.
    pub bounds: Option<&'t BoundTables>,
    /// The book of these rules, for the perfect player on boards with the same number of pits.
    pub book: Option<&'t Book>,
    /// Memory of each solver.
    pub memory: SearchMemory,
    /// Threads of a solver, at least 1.
    pub threads: usize,
    /// Makes random players with the same seed play differently: the number of a game, for instance.
    pub game: u64,
}

impl<'t> Setting<'t> {
    /// No tables, no book, one thread, a transposition table of [`SearchMemory::SHARED_TRANSPOSITIONS`] at most.
    #[must_use]
    pub fn new(rules: Rules) -> Setting<'t> {
        let memory = SearchMemory::shared(None, SearchMemory::SHARED_TRANSPOSITIONS);
        Setting { rules, tables: None, bounds: None, book: None, memory, threads: 1, game: 0 }
    }

    /// The options of a solver for `position`, with the tables and the book if they are for its number of pits, and
    /// without tables that do not fit the memory.
    #[must_use]
    pub fn solver_options(&self, position: &Position) -> SolverOptions<'t> {
        let pits = position.pits();
        SolverOptions::new(self.rules, position)
            .tables(self.tables.filter(|tables| tables.pits() == pits))
            .bounds(self.bounds.filter(|bounds| bounds.pits() == pits))
            .book(self.book.filter(|book| book.pits() == pits))
            .memory(self.memory)
            .threads(self.threads)
            .within_memory()
    }
}
