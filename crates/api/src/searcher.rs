use std::fmt;

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

/// Settings of searches.
#[derive(Clone, Copy, Debug)]
pub struct SearchOptions {
    /// Memory of each search.
    pub memory: SearchMemory,
    /// Threads of one search.
    pub threads: usize,
}

/// State of one searching thread, with its proved results for the last board.
pub struct Searcher<'t> {
    sources: Sources<'t>,
    options: SearchOptions,
    solver: Option<Solver<'t>>,
    /// Number of positions given to the solver.
    asked: usize,
    /// Last player that searches, with its rules, pits and maximum seeds. It keeps its proved results.
    player: Option<(Rules, usize, u32, Box<dyn Player + 't>)>,
}

impl<'t> Searcher<'t> {
    /// Makes a searcher without proved results.
    pub fn new(sources: Sources<'t>, options: SearchOptions) -> Searcher<'t> {
        Searcher { sources, options, solver: None, asked: 0, player: None }
    }

    /// The tables and books.
    pub fn sources(&self) -> Sources<'t> {
        self.sources
    }

    /// Drops all proved results.
    pub fn forget(&mut self) {
        (self.solver, self.player, self.asked) = (None, None, 0);
    }

    /// The player that was asked last, or a new one; `game` makes random players differ. The perfect player shares the
    /// solver, which takes most memory.
    ///
    /// # Errors
    /// If a table is damaged.
    pub(crate) fn player(
        &mut self,
        name: PlayerName,
        rules: Rules,
        position: &Position,
        game: u64,
        cancel: &Cancel,
    ) -> Result<&mut (dyn Player + 't), ApiError> {
        let (pits, seeds) = (position.pits(), position.seeds());
        let is_it = |&(last_rules, last_pits, most, ref player): &(Rules, usize, u32, Box<dyn Player + 't>)| {
            (last_rules, last_pits) == (rules, pits) && seeds <= most && player.name() == name.to_string()
        };
        if !self.player.as_ref().is_some_and(is_it) {
            let is_perfect = name == PlayerName::Perfect;
            let solver = if is_perfect { self.solver(rules, position, cancel)? } else { None };
            let setting = Setting { game, ..self.setting(rules, pits) };
            let player = match solver {
                Some(solver) => PlayerName::perfect_with(&setting, solver),
                None => name.player(&setting),
            };
            self.player = Some((rules, pits, seeds, player));
        }
        Ok(&mut *self.player.as_mut().expect("it was made").3)
    }

    /// Returns true if the solver also solves `position`.
    fn serves(&self, rules: Rules, position: &Position) -> bool {
        let serves = |solver: &Solver| {
            let (pits, seeds) = (position.pits(), position.seeds() as usize);
            solver.rules() == rules && solver.pits() == pits && solver.seeds() >= seeds
        };
        self.solver.as_ref().is_some_and(serves)
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
    pub(crate) fn begin(&mut self, rules: Rules, position: &Position, cancel: &Cancel) -> Result<Search<'t>, ApiError> {
        let start = Instant::now();
        let solver = self.solver(rules, position, cancel)?;
        Ok(Search { rules, position: *position, solver, cancel: cancel.clone(), start })
    }

    /// Makes a solver for `position`, which also solves all later positions of its games.
    ///
    /// # Errors
    /// If a table is damaged.
    pub fn prepare(&mut self, rules: Rules, position: &Position, cancel: &Cancel) -> Result<(), ApiError> {
        self.solver(rules, position, cancel).map(drop)
    }

    /// Returns a solver for `position` that `cancel` stops; `None` if the position is too large or time ran out.
    fn solver(&mut self, rules: Rules, position: &Position, cancel: &Cancel) -> Result<Option<Solver<'t>>, ApiError> {
        self.asked += 1;
        if self.asked > SOLVER_POSITIONS || !self.serves(rules, position) {
            // Frees its memory, also that of a player with it, before allocating more.
            self.forget();
            let options = self.setting(rules, position.pits()).solver_options(position).cancel(cancel.clone());
            let Some(solver) = Solver::new_if_possible(options)? else { return Ok(None) };
            self.solver = Some(solver);
        }
        Ok(self.solver.as_ref().map(|solver| solver.under(cancel)))
    }

    /// Returns the setting for players and solvers of a board.
    fn setting(&self, rules: Rules, pits: usize) -> Setting<'t> {
        let SearchOptions { memory, threads } = self.options;
        let Sources { all_tables, books } = self.sources;
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
    /// Searches in slices, between which the thread can do other work. Reports results at the start, when they improve,
    /// and from time to time. Returns the last one, with the reason of the end.
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
                let analyser = Analyser::new(solver, &position, moves, &cancel);
                analyser.run(&mut |analysis| report(answer(analysis, None))).await?
            }
            None => evaluate_by_stores(rules, &moves, &cancel).await,
        };
        let ended = if analysis.is_proved() {
            Ended::Proved
        } else if cancel.is_cancelled() {
            Ended::Time
        } else {
            Ended::Depth
        };
        Ok(answer(&analysis, Some(ended)))
    }
}

impl fmt::Debug for Searcher<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Searcher").field("options", &self.options).finish_non_exhaustive()
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
        if !(recalled.from_book && recalled.is_exact()) {
            return Ok(None);
        }
        Ok(Some(PositionAnswer::recalled(book, position, tables, &recalled)?))
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
