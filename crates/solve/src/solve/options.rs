use kalah_core::cancel::Cancel;
use kalah_core::evaluation::PhasedNetwork;
use kalah_core::game::{Position, Rules};
use kalah_core::table::{Blocks, BoundTables, Tables};

use super::error::SolveError;
use super::memory::{Copies, Needs, SearchMemory};
use super::packed::BoardKeys;
use super::probing::Layers;
use crate::book::Book;

/// Options of a [`Solver`](super::Solver).
///
/// ```
/// use kalah_core::game::{Position, Rules};
/// use kalah_solve::solve::{Solver, SolverOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let start: Position = "4x2".parse()?;
/// let solver = Solver::new(SolverOptions::new(Rules::EmptyCapture, &start).transpositions(1 << 20))?;
/// let guess = solver.first_guess(&start)?;
/// assert_eq!(solver.solve(&start, guess)?.value, 6);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SolverOptions<'a> {
    pub(super) rules: Rules,
    pub(super) pits: usize,
    pub(super) seeds: usize,
    pub(super) tables: Option<&'a Tables>,
    pub(super) bounds: Option<&'a BoundTables>,
    tables_up_to: usize,
    exact_up_to: usize,
    pub(super) network: Option<&'a PhasedNetwork>,
    pub(super) book: Option<&'a Book>,
    memory: SearchMemory,
    pub(super) threads: usize,
    pub(super) cancel: Cancel,
}

impl<'a> SolverOptions<'a> {
    /// Options for `position` and all positions after it: no tables, one thread, default [memory](SearchMemory).
    pub fn new(rules: Rules, position: &Position) -> SolverOptions<'a> {
        SolverOptions {
            rules,
            pits: position.pits(),
            seeds: position.seeds() as usize,
            tables: None,
            bounds: None,
            tables_up_to: usize::MAX,
            exact_up_to: usize::MAX,
            network: None,
            book: None,
            memory: SearchMemory::default(),
            threads: 1,
            cancel: Cancel::new(),
        }
    }

    /// Sets the tables to use, which must have the same rules and pits.
    #[must_use]
    pub fn tables(self, tables: impl Into<Option<&'a Tables>>) -> SolverOptions<'a> {
        SolverOptions { tables: tables.into(), ..self }
    }

    /// Sets the bound tables to use for the layers above the exact tables; they must have the same rules and
    /// pits. None is used if the layer above the exact tables is missing.
    #[must_use]
    pub fn bounds(self, bounds: impl Into<Option<&'a BoundTables>>) -> SolverOptions<'a> {
        SolverOptions { bounds: bounds.into(), ..self }
    }

    /// Sets the largest layer to use, exact or bound; all layers by default.
    #[must_use]
    pub fn tables_up_to(self, seeds: usize) -> SolverOptions<'a> {
        SolverOptions { tables_up_to: seeds, ..self }
    }

    /// Sets the largest layer whose exact table is used; all by default. Higher layers are read from bound
    /// tables.
    #[must_use]
    pub fn exact_up_to(self, seeds: usize) -> SolverOptions<'a> {
        SolverOptions { exact_up_to: seeds, ..self }
    }

    /// Sets the network that evaluates positions, for the same rules and pits.
    ///
    /// The default is the network of the tables' directory or the shipped one ([`PhasedNetwork::find`]). If
    /// there is neither, it is that of the bound tables, provided that no exact tables are used. Otherwise
    /// evaluations are learned from the tables, and without tables they are half of the seeds in play.
    #[must_use]
    pub fn network(self, network: impl Into<Option<&'a PhasedNetwork>>) -> SolverOptions<'a> {
        SolverOptions { network: network.into(), ..self }
    }

    /// Sets the book, whose bounds are taken as proved; it must have the same rules and pits.
    #[must_use]
    pub fn book(self, book: impl Into<Option<&'a Book>>) -> SolverOptions<'a> {
        SolverOptions { book: book.into(), ..self }
    }

    /// Sets the memory of the search.
    #[must_use]
    pub fn memory(self, memory: SearchMemory) -> SolverOptions<'a> {
        SolverOptions { memory, ..self }
    }

    /// Sets the maximum bytes of the transposition table, which takes a power of two.
    #[must_use]
    pub fn transpositions(self, bytes: u64) -> SolverOptions<'a> {
        SolverOptions { memory: SearchMemory { transpositions: Some(bytes), by_size: false, ..self.memory }, ..self }
    }

    /// States that others, such as a checker of claims, read the tables at the same time. Then no copied table
    /// leaves the page cache.
    #[must_use]
    pub fn others_read_tables(self) -> SolverOptions<'a> {
        SolverOptions { memory: SearchMemory { others_read: true, ..self.memory }, ..self }
    }

    /// Sets the number of threads, at least 1.
    #[must_use]
    pub fn threads(self, threads: usize) -> SolverOptions<'a> {
        SolverOptions { threads, ..self }
    }

    /// Sets the token that ends the making of the solver and all its searches, with
    /// [`SolveError::Stopped`](super::SolveError::Stopped).
    #[must_use]
    pub fn cancel(self, cancel: Cancel) -> SolverOptions<'a> {
        SolverOptions { cancel, ..self }
    }

    /// Checks what [`Solver::new`](super::Solver::new) checks before it takes memory.
    ///
    /// # Errors
    /// If the board is too large to be searched; if the tables, the bound tables, the network or the book have other
    /// rules or pits.
    pub fn check(&self) -> Result<(), SolveError> {
        let expected = (self.rules, self.pits);
        let given = [
            ("tables", self.tables.map(|tables| (tables.rules(), tables.pits()))),
            ("bound tables", self.bounds.map(|bounds| (bounds.rules(), bounds.pits()))),
            ("a network", self.network.map(|network| (network.rules(), network.pits()))),
            ("a book", self.book.map(|book| (book.rules(), book.pits()))),
        ];
        for (what, found) in given {
            if let Some(found) = found.filter(|&found| found != expected) {
                return Err(SolveError::OtherBoard { what, found, expected });
            }
        }
        let fits = BoardKeys::<u128>::new(self.pits, self.seeds).is_some();
        if fits { Ok(()) } else { Err(SolveError::Board { pits: self.pits, seeds: self.seeds as u32 }) }
    }

    /// The layers to use.
    pub(super) fn layers(&self) -> Layers<'a> {
        let layers = Layers::new(self.tables, self.bounds, self.exact_up_to, self.tables_up_to.min(self.seeds));
        let local = self.tables.map_or(usize::MAX, Tables::local_seeds);
        if layers.exact >= self.seeds || layers.exact <= local {
            return layers;
        }
        // A search reads far too many blocks to wait for another machine.
        Layers::new(self.tables, self.bounds, self.exact_up_to.min(local), self.tables_up_to.min(self.seeds))
    }

    /// The largest exact layer that is used, and the largest layer, exact or in a bound table; 0 for none.
    pub fn reach(&self) -> (usize, usize) {
        let Layers { exact, reach, .. } = self.layers();
        (exact, reach)
    }

    /// The files of the layers to use, fewest seeds first.
    pub fn files(&self) -> impl Iterator<Item = &'a Blocks> + use<'a> {
        self.layers().files()
    }

    /// Leaves out the layers that do not fit the memory ([`SolverOptions::memory`]): as few as possible, and of these
    /// as few exact ones as possible. With tables that do not fit, a search waits for the disk all the time.
    ///
    /// If an exact table has the position, all are kept: looking up its score takes no memory.
    #[must_use]
    pub fn within_memory(self) -> SolverOptions<'a> {
        let all = self.layers();
        let fits = |layers: Layers| self.memory.fits(self.needs(layers));
        if all.exact >= self.seeds || fits(all) {
            return self;
        }
        let choices =
            (2..=all.reach).rev().flat_map(|reach| (0..=reach.min(all.exact)).rev().map(move |exact| (exact, reach)));
        let fits = |&(exact, reach): &(usize, usize)| {
            let layers = Layers::new(self.tables, self.bounds, exact, reach);
            (layers.exact, layers.reach) == (exact, reach) && fits(layers)
        };
        let (exact_up_to, tables_up_to) = choices.into_iter().find(fits).unwrap_or((0, 0));
        SolverOptions { exact_up_to, tables_up_to, ..self }
    }

    /// The memory that a search with these layers uses if it may.
    fn needs(&self, layers: Layers) -> Needs {
        Needs::new(self.pits, self.seeds, layers.reach, layers.files().map(Blocks::file_bytes).sum())
    }

    /// Bytes of the transposition table that a solver with these options makes.
    #[must_use]
    pub fn transposition_bytes(&self) -> u64 {
        self.memory.transposition_bytes(self.needs(self.layers()))
    }

    /// Bytes for the search itself, without tables.
    #[must_use]
    pub fn own_bytes(&self) -> u64 {
        self.memory.own_bytes(self.needs(self.layers()))
    }

    /// Settings of copying tables.
    pub(super) fn copies(&self) -> Copies {
        let layers = self.layers();
        let frames = layers.files().flat_map(|file| file.sections()).map(|section| section.bytes());
        self.memory.copies(self.needs(layers), frames.max().unwrap_or(0))
    }
}
