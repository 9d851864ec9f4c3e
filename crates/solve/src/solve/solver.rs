use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use kalah_core::game::{Bounds, Position, Rules};
use kalah_tables::table::Tables;

use super::engine::Engine;
use super::error::SolveError;
use super::memory::{Copies, Shares};
use super::options::SolverOptions;
use super::packed::{Keys, Word};
use super::search::{Run, Search};

/// No deadline.
const NEVER: u64 = u64::MAX;

/// Progress of a solver.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A test begins: whether the mover of `position` can collect at least `score`.
    Begin {
        /// The position, without stores.
        position: Position,
        /// What the mover is tested to collect.
        score: u32,
        /// The bounds proved before.
        known: Bounds,
    },
    /// A test is over.
    Proved {
        /// The position, without stores.
        position: Position,
        /// The bounds proved now.
        known: Bounds,
        /// Nodes of the test.
        nodes: u64,
        /// Seconds it took.
        seconds: f64,
    },
}

/// Solves positions of one rule set and board.
///
/// All its results are proved: by tables, a book if it has one, and by tests in which every bound follows from the bounds of the positions
/// after the moves. Threads and the size of the transposition table change the time, never a value.
pub struct Solver<'a> {
    pub(super) tables: Option<&'a Tables>,
    pub(super) rules: Rules,
    pits: usize,
    seeds: usize,
    pub(super) engine: Box<dyn Search + 'a>,
    copies: Copies,
    threads: usize,
    start: Instant,
    stop: Arc<AtomicBool>,
    /// When searches end: nanoseconds from `start`, [`NEVER`] for no deadline. Searches read it continually.
    deadline: AtomicU64,
    nodes: AtomicU64,
    hits: AtomicU64,
    #[allow(clippy::type_complexity)]
    on_event: Box<dyn Fn(&Solver, Event) + Send + Sync + 'a>,
}

impl std::fmt::Debug for Solver<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Solver { rules, pits, seeds, threads, .. } = self;
        f.debug_struct("Solver")
            .field("rules", rules)
            .field("pits", pits)
            .field("seeds", seeds)
            .field("table_seeds", &self.table_seeds())
            .field("bound_seeds", &self.bound_seeds())
            .field("threads", threads)
            .finish_non_exhaustive()
    }
}

impl<'a> Solver<'a> {
    /// A solver with the narrowest word that holds its boards, which is the fastest.
    ///
    /// # Errors
    /// When the board is too large to be searched, there is not enough memory, or a table is damaged.
    ///
    /// # Panics
    /// When the tables, the bound tables, the network or the book have other rules or pits.
    pub fn new(options: SolverOptions<'a>) -> Result<Solver<'a>, SolveError> {
        Solver::new_unless(&|| false, options)
    }

    /// The same as [`Solver::new_unless`], for those that can do without: `None` if the board is beyond all solvers, or `end`
    /// ended it.
    ///
    /// # Errors
    /// When there is not enough memory, or a table is damaged.
    pub fn new_if_possible(
        end: &dyn Fn() -> bool,
        options: SolverOptions<'a>,
    ) -> Result<Option<Solver<'a>>, SolveError> {
        match Solver::new_unless(end, options) {
            Ok(solver) => Ok(Some(solver)),
            Err(SolveError::Board { .. } | SolveError::Stopped) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The same as [`Solver::new`], but stops once `end` returns true: numbering the rows of large tables and learning
    /// from them takes time. `end` is called every few milliseconds, less often only while tables are read from a slow
    /// disk.
    ///
    /// # Errors
    /// [`SolveError::Stopped`] when `end` returned true; otherwise as [`Solver::new`].
    ///
    /// # Panics
    /// As [`Solver::new`].
    pub fn new_unless(end: &dyn Fn() -> bool, options: SolverOptions<'a>) -> Result<Solver<'a>, SolveError> {
        match Keys::<u64>::new(options.pits, options.seeds) {
            Some(keys) => Solver::with_keys(options, keys, end),
            None => {
                let keys = Solver::keys::<u128>(&options)?;
                Solver::with_keys(options, keys, end)
            }
        }
    }

    /// A solver with a given word; for tests and measurements, since all words give the same results.
    ///
    /// # Errors
    /// As [`Solver::new`], and when the word is too small for the boards.
    ///
    /// # Panics
    /// When the tables, the bound tables, the network or the book have other rules or pits.
    pub fn with_word<W: Word>(options: SolverOptions<'a>) -> Result<Solver<'a>, SolveError> {
        let keys = Solver::keys::<W>(&options)?;
        Solver::with_keys(options, keys, &|| false)
    }

    fn keys<W: Word>(options: &SolverOptions) -> Result<Keys<W>, SolveError> {
        let &SolverOptions { pits, seeds, .. } = options;
        Keys::new(pits, seeds).ok_or(SolveError::Board { pits, seeds: seeds as u32 })
    }

    fn with_keys<W: Word>(
        options: SolverOptions<'a>,
        keys: Keys<W>,
        end: &dyn Fn() -> bool,
    ) -> Result<Solver<'a>, SolveError> {
        let SolverOptions { rules, pits, seeds, tables, bounds, threads, .. } = options;
        assert!(
            tables.is_none_or(|tables| (tables.rules(), tables.pits()) == (rules, pits)),
            "tables of {rules}, {pits}"
        );
        assert!(
            bounds.is_none_or(|bounds| (bounds.rules(), bounds.pits()) == (rules, pits)),
            "bound tables of {rules}, {pits}"
        );
        let network = options.network.map(|network| (network.rules(), network.pits()));
        assert!(network.is_none_or(|network| network == (rules, pits)), "a network of {rules}, {pits}");
        let book = options.book.map(|book| (book.rules(), book.pits()));
        assert!(book.is_none_or(|book| book == (rules, pits)), "a book of {rules}, {pits}");
        let Shares { transpositions, copies } = options.shares();
        let engine = Box::new(Engine::new(&options, keys, transpositions, end)?);
        Ok(Solver {
            tables,
            rules,
            pits,
            seeds,
            engine,
            copies,
            threads: threads.max(1),
            start: Instant::now(),
            stop: options.stop,
            deadline: AtomicU64::new(NEVER),
            nodes: AtomicU64::new(0),
            hits: AtomicU64::new(0),
            on_event: Box::new(|_, _| ()),
        })
    }

    /// Sets a function that is called with every event.
    #[must_use]
    pub fn with_events(self, on_event: impl Fn(&Solver, Event) + Send + Sync + 'a) -> Solver<'a> {
        Solver { on_event: Box::new(on_event), ..self }
    }

    /// Makes searches end with [`SolveError::TimedOut`] at `deadline`, including one that is running on another thread;
    /// `None` means no deadline. What they proved is kept.
    pub fn set_deadline(&self, deadline: Option<Instant>) {
        let nanos = |deadline: Instant| deadline.saturating_duration_since(self.start).as_nanos();
        let deadline = deadline.and_then(|deadline| u64::try_from(nanos(deadline)).ok());
        self.deadline.store(deadline.unwrap_or(NEVER), Ordering::Relaxed);
    }

    /// Why searches must end now, if they must.
    pub(super) fn interrupted(&self) -> Option<SolveError> {
        if self.stop.load(Ordering::Relaxed) {
            return Some(SolveError::Stopped);
        }
        let deadline = self.deadline.load(Ordering::Relaxed);
        let is_over = deadline != NEVER && self.start.elapsed().as_nanos() >= u128::from(deadline);
        is_over.then_some(SolveError::TimedOut)
    }

    /// Nodes searched so far: positions whose moves were played and looked up. During a test the count is updated about
    /// every thousand nodes.
    pub fn nodes(&self) -> u64 {
        self.nodes.load(Ordering::Relaxed)
    }

    /// Scores read from tables so far.
    pub fn table_hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    /// The largest layer of bound tables in use; `None` without bound tables.
    pub fn bound_seeds(&self) -> Option<usize> {
        Some(self.engine.reach()).filter(|&reach| reach > self.engine.exact())
    }

    /// The largest layer of exact tables in use; `None` without tables.
    pub fn table_seeds(&self) -> Option<usize> {
        Some(self.engine.exact()).filter(|&exact| exact > 0)
    }

    /// The rule set.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Pits a side.
    pub fn pits(&self) -> usize {
        self.pits
    }

    /// The most seeds in play of the positions it solves.
    pub fn seeds(&self) -> usize {
        self.seeds
    }

    /// The share of the transposition table that is in use, 0 to 1, estimated from a sample.
    pub fn fill(&self) -> f64 {
        self.engine.fill()
    }

    /// How many bytes of the tables were read and compared with their checksums so far, and how many there are; `None` once all
    /// were. A result that was found before has to wait for the rest.
    pub fn compared(&self) -> Option<(u64, u64)> {
        self.engine.compared()
    }

    /// The bounds that complete tests proved so far, for the positions tested, without stores.
    pub fn proofs(&self) -> Vec<(Position, Bounds)> {
        self.engine.proofs()
    }

    /// Forgets all bounds that were proved or [accepted](Solver::add_proof), except those of the tables and of the book:
    /// one that was accepted turned out to be wrong. No search of the solver may be running.
    pub fn forget(&self) {
        self.engine.forget();
    }

    /// Accepts bounds of the score of `position` that an earlier run proved.
    ///
    /// # Errors
    /// When the position does not fit the solver, the bounds contradict the tables or what is already proved, or a
    /// table is damaged.
    pub fn add_proof(&self, position: &Position, proved: Bounds) -> Result<(), SolveError> {
        let known = self.known(position)?;
        let both = Bounds { lower: known.lower.max(proved.lower), upper: known.upper.min(proved.upper) };
        SolveError::unless_contradictory(position, both)?;
        self.engine.add_proof(position, proved)
    }

    /// The known bounds of the score of `position`, without searching: from the rules, tables, the book, tests, and
    /// the transposition table.
    ///
    /// # Errors
    /// When the position does not fit the solver, bounds contradict each other, or a table is damaged.
    pub fn known(&self, position: &Position) -> Result<Bounds, SolveError> {
        self.check(position)?;
        SolveError::unless_contradictory(position, self.engine.known(position)?)
    }

    /// A lower bound of the nodes that it took to prove what the transposition table has of `position`; 0 if that has nothing of
    /// it, or the book has.
    ///
    /// # Errors
    /// When the position does not fit the solver.
    pub fn work(&self, position: &Position) -> Result<u64, SolveError> {
        self.check(position)?;
        Ok(if position.is_over() { 0 } else { self.engine.work(position) })
    }

    /// Tests whether the mover of `position` collects at least `score` of the seeds in play; returns bounds that decide
    /// it.
    ///
    /// # Errors
    /// When stopped, the position does not fit the solver, bounds contradict each other, or a table is damaged.
    pub fn test(&self, position: &Position, score: u32) -> Result<Bounds, SolveError> {
        self.test_within(position, score, u64::MAX)
    }

    /// As [`Solver::test`], but ends after about `nodes` nodes: each thread counts a thousand before it reports them. What
    /// was proved until then is kept in the transposition table.
    ///
    /// # Errors
    /// [`SolveError::NodeLimit`] when the test is not decided by then; otherwise as [`Solver::test`].
    pub fn test_within(&self, position: &Position, score: u32, nodes: u64) -> Result<Bounds, SolveError> {
        let limit = nodes;
        let known = self.known(position)?;
        if known.lower >= score || known.upper < score {
            return Ok(known);
        }
        let position = position.without_stores();
        (self.on_event)(self, Event::Begin { position, score, known });
        let (start, nodes) = (Instant::now(), self.nodes());
        let end = nodes.saturating_add(limit);
        let interrupted =
            || self.interrupted().or_else(|| (self.nodes() >= end).then_some(SolveError::NodeLimit { nodes: limit }));
        let run = Run {
            threads: self.threads,
            // A copy begun before a deadline would be discarded when it passes.
            copies: if self.deadline.load(Ordering::Relaxed) == NEVER { self.copies } else { Copies::NONE },
            start: self.start,
            interrupted: &interrupted,
            nodes: &self.nodes,
            hits: &self.hits,
        };
        let found = self.engine.test(&position, score, &run)?;
        let proved = if found >= score { Bounds { lower: found, ..known } } else { Bounds { upper: found, ..known } };
        SolveError::unless_contradictory(&position, proved)?;
        self.engine.add_proof(&position, proved)?;
        let (nodes, seconds) = (self.nodes() - nodes, start.elapsed().as_secs_f64());
        (self.on_event)(self, Event::Proved { position, known: proved, nodes, seconds });
        Ok(proved)
    }

    /// The score of `position` by MTD(f) (Plaat, Schaeffer, Pijls, de Bruin 1996): zero-window tests, the first at
    /// `guess`, each other at the bound that the one before gave.
    ///
    /// # Errors
    /// As [`Solver::test`].
    pub fn score(&self, position: &Position, guess: u32) -> Result<u32, SolveError> {
        self.score_with_progress(position, guess, &mut || Ok(()))
    }

    /// As [`Solver::score`]; calls `proved` after every test that does not decide the score.
    pub(crate) fn score_with_progress(
        &self,
        position: &Position,
        guess: u32,
        proved: &mut dyn FnMut() -> Result<(), SolveError>,
    ) -> Result<u32, SolveError> {
        let mut known = self.known(position)?;
        let mut next = guess;
        while known.lower < known.upper {
            let test = next.clamp(known.lower + 1, known.upper);
            known = self.test(position, test)?;
            next = if known.lower >= test { known.lower + 1 } else { known.upper };
            if known.lower < known.upper {
                proved()?;
            }
        }
        Ok(known.lower)
    }

    /// Tests whether the final store difference for the mover of `position` is at least `value`.
    ///
    /// # Errors
    /// As [`Solver::test`].
    pub fn at_least(&self, position: &Position, value: i64) -> Result<bool, SolveError> {
        let seeds = i128::from(position.seeds());
        // value <= 2 score - seeds + the difference of the stores, for whole scores.
        let score = (i128::from(value) - i128::from(position.value(0)) + 1).div_euclid(2);
        if score <= 0 || score > seeds {
            return Ok(score <= 0);
        }
        Ok(self.test(position, score as u32)?.lower >= score as u32)
    }

    /// Returns an error if `position` does not fit the solver.
    pub(super) fn check(&self, position: &Position) -> Result<(), SolveError> {
        let (pits, seeds) = (position.pits(), position.seeds());
        let fits = pits == self.pits && seeds as usize <= self.seeds;
        if fits { Ok(()) } else { Err(SolveError::Board { pits, seeds }) }
    }
}
