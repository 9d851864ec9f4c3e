use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::board::{Board, MAX_BOARD_PITS, MAX_BOARD_SEEDS, Sower};
use super::estimate::Estimate;
use super::expansion::Node;
use super::key::Keys;
use super::lookahead::Lookahead;
use super::prober::Prober;
use super::search::{Shared, Worker};
use super::transposition::{Bounds, TranspositionTable};
use crate::game::{Position, Rules};
use crate::table::{TableError, Tables};

/// Seeds above the tables for which [`default_memory`] takes [`BASE_MEMORY`].
const BASE_SEEDS: usize = 24;

/// Bytes that searches that far above the tables fill in part.
const BASE_MEMORY: u64 = 16 << 20;

/// Positions of a board for each byte that its searches may fill.
const POSITIONS_A_BYTE: u64 = 64;

/// When searching begins to copy tables to memory.
const COPY_AFTER: Duration = Duration::from_secs(2);

/// What a solver works with.
pub struct SolverOptions<'a> {
    /// The rule set.
    pub rules: Rules,
    /// Pits a side.
    pub pits: usize,
    /// The most seeds in play of the positions to solve.
    pub seeds: usize,
    /// Tables of these rules and pits, if there are some.
    pub tables: Option<&'a Tables>,
    /// The largest layer of the tables to use.
    pub tables_up_to: usize,
    /// Bytes of the transposition table.
    pub memory: u64,
    /// Bytes of tables that may be copied to memory, once searching took two seconds.
    pub copy: u64,
    /// Threads, at least 1.
    pub threads: usize,
    /// Setting this ends all searches with [`SolveError::Stopped`].
    pub stop: Arc<AtomicBool>,
}

/// Why a solver has no result.
#[derive(Debug, thiserror::Error)]
pub enum SolveError {
    /// The board is too large.
    #[error(
        "{pits} pits a side with {seeds} seeds in play cannot be searched: boards have up to {MAX_BOARD_PITS} pits a side, \
         {MAX_BOARD_SEEDS} seeds in play, and less than 2^63 positions"
    )]
    Board {
        /// Pits a side.
        pits: usize,
        /// Seeds in play.
        seeds: u32,
    },
    /// There is no memory for the transposition table.
    #[error("no memory for a transposition table of {bytes} bytes: {source}; choose less with --memory")]
    Memory {
        /// Bytes asked for.
        bytes: u64,
        /// The reason.
        source: std::io::Error,
    },
    /// It was asked to stop.
    #[error("stopped before the result was proved")]
    Stopped,
    /// The [deadline](Solver::set_deadline) passed.
    #[error("the time was up before the result was proved")]
    TimedOut,
    /// A table cannot be read.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// What happens in a solver, as it happens.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A test begins: whether the mover of `board` can collect at least `score`, of which `known` is proved.
    Begin {
        /// The position.
        board: Board,
        /// What the mover is tested to collect.
        score: u32,
        /// What was proved before.
        known: Bounds,
    },
    /// A test is over.
    Proved {
        /// The position.
        board: Board,
        /// What is proved now.
        known: Bounds,
        /// Nodes of the test.
        nodes: u64,
        /// Seconds it took.
        seconds: f64,
    },
}

/// Solves positions of one rule set and board.
///
/// All its results are proved: by tables, and by tests whose every bound follows from those of the positions after the
/// moves. Threads and the size of the transposition table change the time, never a value.
pub struct Solver<'a> {
    pub(super) tables: Option<&'a Tables>,
    pub(super) rules: Rules,
    seeds: usize,
    pub(super) sower: Sower,
    keys: Keys,
    prober: Prober<'a>,
    estimate: Estimate,
    positions: TranspositionTable,
    copy: u64,
    threads: usize,
    start: Instant,
    /// Results of whole tests.
    proofs: Mutex<HashMap<Board, Bounds>>,
    stop: Arc<AtomicBool>,
    /// When searches end.
    deadline: Mutex<Option<Instant>>,
    nodes: AtomicU64,
    hits: AtomicU64,
    #[allow(clippy::type_complexity)]
    on_event: Box<dyn Fn(&Solver, Event) + Send + Sync + 'a>,
}

impl<'a> Solver<'a> {
    /// A solver.
    ///
    /// # Errors
    /// When the board is too large to be searched, there is not enough memory, or a table is damaged.
    ///
    /// # Panics
    /// When the tables are of other rules or pits.
    pub fn new(options: SolverOptions<'a>) -> Result<Solver<'a>, SolveError> {
        let SolverOptions { rules, pits, seeds, tables, tables_up_to, memory, copy, threads, stop } = options;
        let fits = (1..=MAX_BOARD_PITS).contains(&pits) && seeds <= MAX_BOARD_SEEDS;
        let keys = fits.then(|| Keys::new(pits, seeds)).flatten();
        let keys = keys.ok_or(SolveError::Board { pits, seeds: seeds as u32 })?;
        assert!(
            tables.is_none_or(|tables| (tables.rules(), tables.pits()) == (rules, pits)),
            "tables of {rules}, {pits}"
        );
        let positions = TranspositionTable::new(keys.count(), memory)
            .map_err(|source| SolveError::Memory { bytes: memory, source })?;
        let prober = Prober::new(&keys, tables, tables_up_to.min(seeds));
        let estimate = match tables {
            // Where all is in the tables nothing is ordered.
            Some(tables) if (2..seeds).contains(&prober.reach()) => Estimate::learn(tables, prober.reach())?,
            _ => Estimate::default(),
        };
        Ok(Solver {
            tables,
            rules,
            seeds,
            sower: Sower::new(rules, pits, seeds),
            prober,
            estimate,
            keys,
            positions,
            copy,
            threads: threads.max(1),
            start: Instant::now(),
            proofs: Mutex::default(),
            stop,
            deadline: Mutex::default(),
            nodes: AtomicU64::new(0),
            hits: AtomicU64::new(0),
            on_event: Box::new(|_, _| ()),
        })
    }

    /// Has `on_event` told what happens.
    #[must_use]
    pub fn with_events(self, on_event: impl Fn(&Solver, Event) + Send + Sync + 'a) -> Solver<'a> {
        Solver { on_event: Box::new(on_event), ..self }
    }

    /// Has searches end with [`SolveError::TimedOut`] at `deadline`, also one under way on another thread; `None` gives
    /// them all the time they need. What they proved is kept.
    pub fn set_deadline(&self, deadline: Option<Instant>) {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = deadline;
    }

    /// Why searches have to end now.
    pub(super) fn interrupted(&self) -> Option<SolveError> {
        if self.stop.load(Ordering::Relaxed) {
            return Some(SolveError::Stopped);
        }
        self.deadline().filter(|&deadline| Instant::now() >= deadline).map(|_| SolveError::TimedOut)
    }

    fn deadline(&self) -> Option<Instant> {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nodes searched so far: positions whose moves were played and looked up. Told in steps of a thousand while a test
    /// runs.
    pub fn nodes(&self) -> u64 {
        self.nodes.load(Ordering::Relaxed)
    }

    /// Scores read from tables so far.
    pub fn table_hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    /// The largest layer of tables in use; `None` without tables.
    pub fn table_seeds(&self) -> Option<usize> {
        Some(self.prober.reach()).filter(|&reach| reach > 0)
    }

    /// The rule set.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Pits a side.
    pub fn pits(&self) -> usize {
        self.sower.pits()
    }

    /// The most seeds in play of the positions it solves.
    pub fn seeds(&self) -> usize {
        self.seeds
    }

    /// The transposition table.
    pub fn transpositions(&self) -> &TranspositionTable {
        &self.positions
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Board, Bounds>> {
        self.proofs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What whole tests proved so far, of the positions tested.
    pub fn proofs(&self) -> Vec<(Board, Bounds)> {
        let mut proofs: Vec<_> = self.lock().iter().map(|(&board, &bounds)| (board, bounds)).collect();
        proofs.sort_unstable_by_key(|(board, _)| (std::cmp::Reverse(board.seeds()), board.mover, board.other));
        proofs
    }

    /// Takes a bound of the score of `board` as proved, from an earlier run.
    ///
    /// # Panics
    /// When it contradicts what is proved already.
    pub fn believe(&self, board: Board, proved: Bounds) {
        let mut proofs = self.lock();
        let known = proofs.entry(board).or_insert(Bounds { lower: 0, upper: board.seeds() });
        known.lower = known.lower.max(proved.lower);
        known.upper = known.upper.min(proved.upper);
        assert!(known.lower <= known.upper, "contradictory bounds of the score of {board:?}: {known:?}");
    }

    /// What is known of the score of `board` without searching: from the rules, tables, tests, and transpositions.
    ///
    /// # Errors
    /// When a table is damaged.
    pub fn known(&self, board: Board) -> Result<Bounds, TableError> {
        let seeds = board.seeds();
        let exact = |score| Bounds { lower: score, upper: score };
        if board.is_over() {
            return Ok(exact(super::board::total(board.mover)));
        }
        let (mover, other) = (super::board::sums(board.mover), super::board::sums(board.other));
        let (mover_row, other_row) = (self.keys.row(mover), self.keys.row(other));
        let mover_seeds = (mover >> 56) as u32;
        if seeds as usize <= self.prober.reach() {
            let spot = self.prober.locate(seeds, mover_seeds, mover_row, other_row);
            return Ok(exact(self.prober.score(seeds, spot)?));
        }
        let mut known = Bounds { lower: 0, upper: seeds };
        let slot = self.positions.slot(self.keys.combine(mover_row, mover_seeds, other_row));
        let proved = [self.lock().get(&board).copied(), self.positions.get(slot)];
        for proved in proved.into_iter().flatten() {
            known = Bounds { lower: known.lower.max(proved.lower), upper: known.upper.min(proved.upper) };
        }
        Ok(known)
    }

    /// Tests whether the mover of `board` collects at least `score`: bounds that decide it.
    ///
    /// # Errors
    /// When stopped, or a table is damaged.
    ///
    /// # Panics
    /// When the board has more pits or seeds than the solver was made for.
    pub fn test(&self, board: Board, score: u32) -> Result<Bounds, SolveError> {
        let seeds = board.seeds();
        assert!(seeds as usize <= self.seeds, "{board:?} has more than {} seeds", self.seeds);
        let known = self.known(board)?;
        if known.lower >= score || known.upper < score {
            return Ok(known);
        }
        (self.on_event)(self, Event::Begin { board, score, known });
        let (start, nodes) = (Instant::now(), self.nodes());
        let found = self.search(Node { board, seeds, slot: self.positions.slot(self.keys.key(board)) }, score)?;
        let proved = if found >= score { Bounds { lower: found, ..known } } else { Bounds { upper: found, ..known } };
        self.believe(board, proved);
        let (nodes, seconds) = (self.nodes() - nodes, start.elapsed().as_secs_f64());
        (self.on_event)(self, Event::Proved { board, known: proved, nodes, seconds });
        Ok(proved)
    }

    pub(super) fn lookahead(&self) -> Lookahead<'_> {
        Lookahead { sower: &self.sower, estimate: &self.estimate }
    }

    /// A fail-soft test on all threads.
    fn search(&self, node: Node, score: u32) -> Result<u32, SolveError> {
        let shared = Shared {
            sower: &self.sower,
            keys: &self.keys,
            prober: &self.prober,
            positions: &self.positions,
            look: self.lookahead(),
            interrupted: &|| self.interrupted().is_some(),
            done: AtomicBool::new(false),
            nodes: &self.nodes,
            hits: &self.hits,
            error: Mutex::new(None),
            parallel: self.threads > 1,
            busy: Shared::busy_places(),
        };
        let result = Mutex::new(None);
        let work = || {
            if let Some(found) = Worker::new(&shared).run(node, score) {
                shared.done.store(true, Ordering::Relaxed);
                result.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(found);
            }
        };
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // A copy begun before a deadline would be thrown away at it.
            let copies = self.copy > 0 && !self.prober.is_copied() && self.deadline().is_none();
            let copier = copies.then(|| {
                scope.spawn(|| {
                    // Short searches are over before copying pays.
                    while self.start.elapsed() < COPY_AFTER && !ended.load(Ordering::Relaxed) {
                        std::thread::park_timeout(COPY_AFTER.saturating_sub(self.start.elapsed()));
                    }
                    self.prober.copy(self.copy, &ended);
                })
            });
            for _ in 1..self.threads {
                scope.spawn(work);
            }
            work();
            ended.store(true, Ordering::Relaxed);
            if let Some(copier) = copier {
                copier.thread().unpark();
            }
        });
        if let Some(error) = shared.error.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error.into());
        }
        let result = result.into_inner().unwrap_or_else(PoisonError::into_inner);
        result.ok_or_else(|| self.interrupted().unwrap_or(SolveError::Stopped))
    }

    /// The score of `board` by MTD(f) (Plaat, Schaeffer, Pijls, de Bruin 1996): zero-window tests from `guess` on, each at
    /// the bound that the one before gave.
    ///
    /// # Errors
    /// As [`Solver::test`].
    pub fn score(&self, board: Board, guess: u32) -> Result<u32, SolveError> {
        let mut known = self.known(board)?;
        let mut next = guess;
        while known.lower < known.upper {
            let test = next.clamp(known.lower + 1, known.upper);
            known = self.test(board, test)?;
            next = if known.lower >= test { known.lower + 1 } else { known.upper };
        }
        Ok(known.lower)
    }

    /// Tests whether the final store difference for the mover of `position` is at least `value`.
    ///
    /// # Errors
    /// As [`Solver::test`].
    pub fn at_least(&self, position: &Position, value: i64) -> Result<bool, SolveError> {
        let board = self.board(position)?;
        let seeds = i64::from(position.seeds());
        // value <= 2 score - seeds + the difference of the stores, for whole scores.
        let score = (value - position.value(0) + 1).div_euclid(2);
        if score <= 0 || score > seeds {
            return Ok(score <= 0);
        }
        Ok(self.test(board, score as u32)?.lower >= score as u32)
    }

    /// The board of `position`.
    pub(super) fn board(&self, position: &Position) -> Result<Board, SolveError> {
        let (pits, seeds) = (position.pits(), position.seeds());
        let fits = pits == self.pits() && seeds as usize <= self.seeds;
        Board::of(position).filter(|_| fits).ok_or(SolveError::Board { pits, seeds })
    }
}

/// Bytes of a transposition table that serve a search from `seeds` seeds on a board of `pits` pits a side, with tables to
/// `table_seeds`, when `available` bytes are there.
pub fn default_memory(pits: usize, seeds: usize, table_seeds: usize, available: u64) -> u64 {
    let above = seeds.saturating_sub(table_seeds.max(2));
    // Searches grow faster than this; but memory that is touched for the first time costs time too.
    let doublings = above.saturating_sub(BASE_SEEDS) / 2;
    // Searches of small boards meet few of the positions there are.
    let fits = (1..=MAX_BOARD_PITS).contains(&pits) && seeds <= MAX_BOARD_SEEDS;
    let positions = fits.then(|| Keys::new(pits, seeds)).flatten().map_or(u64::MAX, |keys| keys.count());
    let most = (positions / POSITIONS_A_BYTE).max(BASE_MEMORY);
    (BASE_MEMORY << doublings.min(20)).min(most).min(available / 4).max(1 << 20)
}
