use kalah_core::cancel::{Cancel, Instant};
use kalah_core::game::{Position, Rules};
use kalah_core::table::{AllTables, Probe};
use kalah_play::play::{Player, PlayerName, Setting};
use kalah_solve::book::{Book, Books};
use kalah_solve::solve::{SearchMemory, Solver};

use super::ApiError;
use super::analyser::{Analyser, evaluate_by_stores};
use super::answer::{Analysis, Ended, ExplorerAnswer, PositionAnswer, SearchAnswer};

/// Positions after which a solver is replaced, since it keeps the results of all its tests.
const SOLVER_POSITIONS: usize = 1 << 12;

/// State of one searching thread, with its proved results for the last board.
#[derive(Debug)]
pub struct Searcher<'t> {
    /// The tables and books.
    pub sources: Sources<'t>,
    memory: SearchMemory,
    threads: usize,
    solver: Option<Solver<'t>>,
    /// Number of positions given to the solver.
    asked: usize,
}

impl<'t> Searcher<'t> {
    /// Makes a searcher without proved results, which uses this memory and number of threads.
    pub fn new(sources: Sources<'t>, memory: SearchMemory, threads: usize) -> Searcher<'t> {
        Searcher { sources, memory, threads, solver: None, asked: 0 }
    }

    /// Makes a player. The perfect one shares the solver.
    pub(crate) fn player(
        &mut self,
        name: PlayerName,
        rules: Rules,
        position: &Position,
        cancel: &Cancel,
    ) -> Result<Box<dyn Player + 't>, ApiError> {
        let solver = if name == PlayerName::Perfect { self.solver(rules, position, cancel)? } else { None };
        let setting = self.setting(rules, position.pits());
        Ok(solver.map_or_else(|| name.player(&setting), |solver| PlayerName::perfect_with(&setting, solver)))
    }

    /// Searches a position above the tables and its moves, until all values are proved or `cancel` ends the search.
    ///
    /// # Errors
    /// If a table is damaged.
    pub fn search(&mut self, rules: Rules, position: &Position, cancel: &Cancel) -> Result<PositionAnswer, ApiError> {
        Ok(pollster::block_on(self.begin(rules, position, cancel)?.run(|_| ()))?.known)
    }

    /// Prepares the search that [`Searcher::search`] does. Its proved results also help later searches.
    ///
    /// # Errors
    /// If a table is damaged.
    pub fn begin(&mut self, rules: Rules, position: &Position, cancel: &Cancel) -> Result<Search<'t>, ApiError> {
        let start = Instant::now();
        let solver = self.solver(rules, position, cancel)?;
        Ok(Search { rules, position: *position, solver, cancel: cancel.clone(), start })
    }

    /// Returns a solver for `position`, and for all later positions of its games, that `cancel` stops; `None` if the
    /// position is too large or time ran out.
    pub(crate) fn solver(
        &mut self,
        rules: Rules,
        position: &Position,
        cancel: &Cancel,
    ) -> Result<Option<Solver<'t>>, ApiError> {
        self.asked += 1;
        let serves = |solver: &Solver| {
            (solver.rules(), solver.pits()) == (rules, position.pits()) && solver.seeds() >= position.seeds() as usize
        };
        if self.asked > SOLVER_POSITIONS || !self.solver.as_ref().is_some_and(serves) {
            // Frees its memory before allocating more.
            (self.solver, self.asked) = (None, 0);
            let options = self.setting(rules, position.pits()).solver_options(position).cancel(cancel.clone());
            self.solver = Solver::new_if_possible(options)?;
        }
        Ok(self.solver.as_ref().map(|solver| solver.under(cancel)))
    }

    /// Returns the setting for players and solvers of a board.
    fn setting(&self, rules: Rules, pits: usize) -> Setting<'t> {
        let Searcher { sources: Sources { all_tables, books }, memory, threads, .. } = *self;
        Setting {
            tables: all_tables.tables(rules, pits),
            bounds: all_tables.bounds(rules, pits),
            book: books.get(rules, pits),
            memory,
            threads,
            ..Setting::new(rules)
        }
    }
}

/// A prepared search.
#[derive(Debug)]
pub struct Search<'t> {
    rules: Rules,
    position: Position,
    /// `None` if the position is too large for one.
    solver: Option<Solver<'t>>,
    cancel: Cancel,
    start: Instant,
}

impl Search<'_> {
    /// Searches in slices, between which the thread can do other work. Reports results at the start and from time to
    /// time. Returns the last one, with the reason of the end.
    ///
    /// # Errors
    /// If a table is damaged.
    pub async fn run(self, mut report: impl FnMut(SearchAnswer)) -> Result<SearchAnswer, ApiError> {
        let Search { rules, position, solver, cancel, start } = self;
        let moves = position.moves().filter_map(|pit| Some((pit, position.play(rules, pit).ok()?))).collect();
        let answer = |analysis: &Analysis, ended| SearchAnswer {
            known: PositionAnswer::searched(rules, &position, analysis),
            nodes: analysis.nodes,
            seconds: start.elapsed().as_secs_f64(),
            ended,
        };
        let analysis = match solver {
            Some(solver) => {
                let mut report = |analysis: &Analysis| report(answer(analysis, None));
                Analyser::run(solver, &position, moves, &cancel, &mut report).await?
            }
            None => evaluate_by_stores(rules, &moves, &cancel).await,
        };
        let ended = match analysis.is_proved() {
            true => Ended::Proved,
            false if cancel.is_cancelled() => Ended::Time,
            false => Ended::Depth,
        };
        Ok(answer(&analysis, Some(ended)))
    }
}

/// The tables and books from which answers come.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'t> {
    /// The tables.
    pub all_tables: &'t AllTables,
    /// The books.
    pub books: &'t Books,
}

impl Sources<'_> {
    /// Answers about a position without a search: from the rules, the tables or the book. `None` if none of them has
    /// its value.
    ///
    /// # Errors
    /// If a table is damaged.
    pub fn at_once(self, rules: Rules, position: &Position) -> Result<Option<PositionAnswer>, ApiError> {
        if let Some(probe) = Probe::of_finished(position) {
            return Ok(Some(PositionAnswer::probed(rules, &probe)));
        }
        if let Some(probe) = self.all_tables.probe(rules, position)? {
            return Ok(Some(PositionAnswer::probed(rules, &probe)));
        }
        let Some(book) = self.books.get(rules, position.pits()) else { return Ok(None) };
        let tables = self.all_tables.tables(rules, position.pits());
        let recalled = book.recall(position, tables)?;
        let answer = || PositionAnswer::recalled(book, position, tables, &recalled);
        Ok((recalled.from_book && recalled.is_exact()).then(answer).transpose()?)
    }

    /// Answers the opening explorer: bounds of the book for a position and its moves, without a search.
    ///
    /// # Errors
    /// If a table is damaged.
    pub fn recall(self, rules: Rules, position: &Position) -> Result<ExplorerAnswer, ApiError> {
        let none = Book::new(rules, position.pits());
        let book = self.books.get(rules, position.pits()).unwrap_or(&none);
        let tables = self.all_tables.tables(rules, position.pits());
        let recalled = book.recall(position, tables)?;
        let known = PositionAnswer::recalled(book, position, tables, &recalled)?;
        Ok(ExplorerAnswer { known, in_book: recalled.from_book })
    }
}
