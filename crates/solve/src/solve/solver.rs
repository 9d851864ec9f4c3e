use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use kalah_core::cancel::{Cancel, Instant};
use kalah_core::game::{Bounds, Position, Rules};
use kalah_core::table::Tables;

use super::engine::Engine;
use super::error::SolveError;
use super::memory::Copies;
use super::options::SolverOptions;
use super::packed::{BoardKeys, Word};
use super::search::{Run, Search};

/// Maximum nodes of a test on one thread. More threads take longer to start than to search them.
const ONE_THREAD_NODES: u64 = 1 << 16;

/// Progress of a solver.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum SolveEvent {
    /// A test begins: can the mover of `position` collect at least `score`?
    Begin {
        /// The position, without stores.
        position: Position,
        /// The tested score.
        score: u32,
        /// The bounds proved before the test.
        known: Bounds,
    },
    /// A test is over.
    Proved {
        /// The position, without stores.
        position: Position,
        /// The bounds proved after the test.
        known: Bounds,
        /// Nodes of the test.
        nodes: u64,
        /// Seconds it took.
        seconds: f64,
    },
}

/// Solves positions of one rule set and board.
///
/// Its values and bounds are proved by tables, a book if it has one, and tests. In a test every bound follows
/// from the bounds of the positions after the moves. Evaluations and depth-limited searches prove nothing, unless
/// their result is marked as exact. Threads and the size of the transposition table change the time, never a
/// value.
///
/// Clones share everything proved, and the [`Cancel`] that ends their searches. [`Solver::under`] makes a clone
/// with another [`Cancel`], and [`Solver::within`] one with a deadline.
#[derive(Clone)]
pub struct Solver<'a> {
    pub(super) tables: Option<&'a Tables>,
    pub(super) rules: Rules,
    pits: usize,
    seeds: usize,
    pub(super) engine: Arc<dyn Search + 'a>,
    copies: Copies,
    threads: usize,
    start: Instant,
    pub(super) cancel: Cancel,
    nodes: Arc<AtomicU64>,
    hits: Arc<AtomicU64>,
    #[allow(clippy::type_complexity)]
    on_event: Arc<dyn Fn(&Solver, SolveEvent) + Send + Sync + 'a>,
}

impl std::fmt::Debug for Solver<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Solver { rules, pits, seeds, threads, .. } = self;
        let mut text = f.debug_struct("Solver");
        text.field("rules", rules).field("pits", pits).field("seeds", seeds).field("threads", threads);
        text.finish_non_exhaustive()
    }
}

impl<'a> Solver<'a> {
    /// A solver with the [`Word`] for its boards: `u64` if they fit, which is faster, otherwise `u128`.
    ///
    /// Numbering the rows of large tables and learning from them takes time. Meanwhile the [cancel
    /// token](SolverOptions::cancel) is checked every few milliseconds, less often only while tables are read
    /// from a slow disk.
    ///
    /// # Errors
    /// If the board is too large to be searched, there is not enough memory, a table is damaged, or it was
    /// stopped; if the tables, the bound tables, the network or the book have other rules or pits.
    pub fn new(options: SolverOptions<'a>) -> Result<Solver<'a>, SolveError> {
        match BoardKeys::<u64>::new(options.pits, options.seeds) {
            Some(keys) => Solver::with_keys(options, keys),
            None => {
                let keys = Solver::keys::<u128>(&options)?;
                Solver::with_keys(options, keys)
            }
        }
    }

    /// As [`Solver::new`], for callers that can do without a solver. `None` if the board is too large for any
    /// solver, or the time ran out.
    ///
    /// # Errors
    /// If there is not enough memory, or a table is damaged.
    pub fn new_if_possible(options: SolverOptions<'a>) -> Result<Option<Solver<'a>>, SolveError> {
        match Solver::new(options) {
            Ok(solver) => Ok(Some(solver)),
            Err(SolveError::Board { .. } | SolveError::Stopped) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A solver with a given word; for tests and measurements, since all words give the same results.
    ///
    /// # Errors
    /// As [`Solver::new`]; also if the word is too small for the boards.
    pub fn with_word<W: Word>(options: SolverOptions<'a>) -> Result<Solver<'a>, SolveError> {
        let keys = Solver::keys::<W>(&options)?;
        Solver::with_keys(options, keys)
    }

    fn keys<W: Word>(options: &SolverOptions) -> Result<BoardKeys<W>, SolveError> {
        let &SolverOptions { pits, seeds, .. } = options;
        BoardKeys::new(pits, seeds).ok_or(SolveError::Board { pits, seeds: seeds as u32 })
    }

    fn with_keys<W: Word>(options: SolverOptions<'a>, keys: BoardKeys<W>) -> Result<Solver<'a>, SolveError> {
        options.check()?;
        let SolverOptions { rules, pits, seeds, tables, threads, .. } = options;
        let engine = Arc::new(Engine::new(&options, keys)?);
        Ok(Solver {
            tables,
            rules,
            pits,
            seeds,
            engine,
            copies: options.copies(),
            threads: threads.max(1),
            start: Instant::now(),
            cancel: options.cancel,
            nodes: Arc::default(),
            hits: Arc::default(),
            on_event: Arc::new(|_, _| ()),
        })
    }

    /// Sets a function that is called with every event.
    #[must_use]
    pub fn with_events(self, on_event: impl Fn(&Solver, SolveEvent) + Send + Sync + 'a) -> Solver<'a> {
        Solver { on_event: Arc::new(on_event), ..self }
    }

    /// The same solver, with searches that `cancel` ends. Bounds that they proved are kept.
    #[must_use]
    pub fn under(&self, cancel: &Cancel) -> Solver<'a> {
        Solver { cancel: cancel.clone(), ..self.clone() }
    }

    /// The same solver, with searches that end after `time` from this call on. Bounds that they proved are
    /// kept.
    #[must_use]
    pub fn within(&self, time: Duration) -> Solver<'a> {
        self.under(&self.cancel.within(time))
    }

    /// Does `work` with this solver [within `time`](Solver::within); `None` if the time ran out first.
    ///
    /// # Errors
    /// As `work`; [`SolveError::Stopped`] if this solver itself was stopped.
    pub fn in_time<T>(
        &self,
        time: Duration,
        work: impl FnOnce(&Solver<'a>) -> Result<T, SolveError>,
    ) -> Result<Option<T>, SolveError> {
        match work(&self.within(time)) {
            Err(SolveError::Stopped) => Ok(self.cancel.check().map(|()| None)?),
            done => done.map(Some),
        }
    }

    /// Nodes searched so far: positions whose moves were played and looked up. During a test the count is
    /// updated about every thousand nodes.
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

    /// Maximum seeds in play of positions that it solves.
    pub fn seeds(&self) -> usize {
        self.seeds
    }

    /// Share of the transposition table in use, 0 to 1, estimated from a sample.
    pub fn fill(&self) -> f64 {
        self.engine.fill()
    }

    /// Forgets all bounds that were proved or [accepted](Solver::add_proof), except those of the tables and the
    /// book. Used when an accepted bound turned out to be wrong. No search of the solver may be running.
    pub fn forget(&self) {
        self.engine.forget();
    }

    /// Accepts bounds of the score of `position` that were proved in another run.
    ///
    /// # Errors
    /// If the position does not fit the solver, the bounds contradict the tables or other proved bounds, or a
    /// table is damaged.
    pub fn add_proof(&self, position: &Position, proved: Bounds) -> Result<(), SolveError> {
        let known = self.known(position)?;
        let both = Bounds { lower: known.lower.max(proved.lower), upper: known.upper.min(proved.upper) };
        SolveError::unless_contradictory(position, both)?;
        self.engine.add_proof(position, proved)
    }

    /// The known bounds of the score of `position` without a search: from the rules, tables, the book, tests,
    /// and the transposition table.
    ///
    /// # Errors
    /// If the position does not fit the solver, bounds contradict each other, or a table is damaged.
    pub fn known(&self, position: &Position) -> Result<Bounds, SolveError> {
        self.check(position)?;
        SolveError::unless_contradictory(position, self.engine.known(position)?)
    }

    /// A lower bound of the nodes that proving the bounds of `position` in the transposition table took; 0 if
    /// it has none, or they come from the book.
    ///
    /// # Errors
    /// If the position does not fit the solver.
    pub fn work(&self, position: &Position) -> Result<u64, SolveError> {
        self.check(position)?;
        Ok(if position.is_over() { 0 } else { self.engine.work(position) })
    }

    /// Tests whether the mover of `position` collects at least `score` of the seeds in play. Returns bounds that
    /// decide it.
    ///
    /// # Errors
    /// If it is stopped, the position does not fit the solver, bounds contradict each other, or a table is
    /// damaged.
    pub fn test(&self, position: &Position, score: u32) -> Result<Bounds, SolveError> {
        self.test_within(position, score, u64::MAX)
    }

    /// As [`Solver::test`], but ends after about `nodes` nodes: each thread counts a thousand before it reports
    /// them. Up to 65,536 nodes are searched on one thread. Bounds proved by then stay in the transposition table.
    ///
    /// # Errors
    /// [`SolveError::NodeLimit`] if the test is not decided by then; otherwise as [`Solver::test`].
    pub fn test_within(&self, position: &Position, score: u32, nodes: u64) -> Result<Bounds, SolveError> {
        let known = self.known(position)?;
        if known.lower >= score || known.upper < score {
            return Ok(known);
        }
        let position = position.without_stores();
        (self.on_event)(self, SolveEvent::Begin { position, score, known });
        let (start, before) = (Instant::now(), self.nodes());
        let run = Run {
            threads: if nodes <= ONE_THREAD_NODES { 1 } else { self.threads },
            // A copy begun before a deadline would be discarded when it passes.
            copies: if self.cancel.deadline().is_none() { self.copies } else { Copies::default() },
            start: self.start,
            cancel: &self.cancel,
            nodes: &self.nodes,
            before,
            limit: nodes,
            hits: &self.hits,
        };
        let found = self.engine.test(&position, score, &run)?;
        let proved = if found >= score { Bounds { lower: found, ..known } } else { Bounds { upper: found, ..known } };
        SolveError::unless_contradictory(&position, proved)?;
        self.engine.add_proof(&position, proved)?;
        let (nodes, seconds) = (self.nodes() - before, start.elapsed().as_secs_f64());
        (self.on_event)(self, SolveEvent::Proved { position, known: proved, nodes, seconds });
        Ok(proved)
    }

    /// The score of `position` by MTD(f) (Plaat, Schaeffer, Pijls, de Bruin 1996): zero-window tests, the first
    /// at `guess`, each later one at the bound that the previous one gave.
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
