use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kalah_base::system::OutOfMemory;
use kalah_core::cancel::{Cancel, Stopped};
use kalah_core::evaluation::PhasedNetwork;
use kalah_core::game::{Bounds, Position};
use kalah_core::table::TableError;
use parking_lot::Mutex;

use super::depth_limited::{BoundedSearch, Depth, DepthLimitedResult, Findings, StaticSearch, Window};
use super::ends::Ends;
use super::error::SolveError;
use super::evaluation::{SEED, StaticEvaluation, in_order};
use super::memory::Copies;
use super::options::SolverOptions;
use super::packed::{Board, BoardKeys, Sower, Word};
use super::probing::TableScores;
use super::search::{Run, Search};
use super::transposition::TranspositionTable;
#[cfg(not(target_family = "wasm"))]
use super::transposition::file;
use super::zero_window::{Expander, Node, Shared, SharedOrders, Worker, unkept};
use crate::book::Book;

/// Effort of entries from the book, and of saved results of tests. Other entries hardly ever replace them.
const BOOK_NODES: u64 = 1 << 40;

/// The same for a book that fills more than one part in [`BOOK_PART`] of the transposition table. Entries that
/// save a search more may replace them.
const LARGE_BOOK_NODES: u64 = 1 << 12;

/// Bounds of the book that are stored between two checks for a stop.
const BOOK_PASS: usize = 64;

/// See [`LARGE_BOOK_NODES`].
const BOOK_PART: u64 = 8;

/// Window that contains all evaluations.
const WINDOW: Window = Window { low: -256 * SEED, high: 256 * SEED };

/// The part of a solver that depends on the word for its boards: the search, and its proved bounds.
///
/// Solvers use it through [`Search`]. So the word is chosen in one place, by the board, and neither solvers nor
/// their users are generic. Calls through the trait are rare and long; the search itself is compiled for the
/// word.
pub(super) struct Engine<'a, W: Word> {
    seeds: usize,
    sower: Sower<W>,
    keys: BoardKeys<W>,
    tables: TableScores<'a>,
    book: Option<&'a Book>,
    evaluation: StaticEvaluation,
    positions: TranspositionTable<W>,
    /// Results of complete tests.
    proofs: Mutex<HashMap<Board<W>, Bounds>>,
    /// Empty findings of searches that are over. Tests of a few nodes take less time than memory for new ones.
    findings: Mutex<Vec<Findings>>,
}

impl<'a, W: Word> Engine<'a, W> {
    /// An engine for the boards that `keys` numbers, with these `options`.
    ///
    /// # Errors
    /// As [`super::Solver::new`].
    pub(crate) fn new(options: &SolverOptions<'a>, keys: BoardKeys<W>) -> Result<Engine<'a, W>, SolveError> {
        let &SolverOptions { rules, pits, seeds, ref cancel, .. } = options;
        let layers = options.layers();
        let bytes = options.transposition_bytes();
        let out_of_memory = |source| OutOfMemory { what: "a transposition table", bytes, source };
        let positions = TranspositionTable::new(keys.count(), bytes).map_err(out_of_memory)?;
        let tables = TableScores::new(&keys, layers, cancel)?;
        // If all positions are in exact tables, no moves are ordered.
        let used = layers.tables.filter(|_| layers.exact < seeds);
        let evaluation = match (options.network, used, layers.bounds) {
            (Some(network), ..) => StaticEvaluation::network(network.clone()),
            (None, Some(files), _) => StaticEvaluation::of_tables(files, layers.exact, cancel)?,
            (None, None, Some(bounds)) => {
                let found = PhasedNetwork::find(bounds.directory(), rules, pits)?;
                StaticEvaluation::network(found.unwrap_or_else(|| bounds.network().clone().into()))
            }
            (None, None, None) => {
                let shipped = PhasedNetwork::shipped(rules, pits).filter(|_| layers.exact < seeds);
                shipped.map_or_else(StaticEvaluation::default, StaticEvaluation::network)
            }
        };
        let board = SolveError::Board { pits, seeds: seeds as u32 };
        let sower = Sower::new(rules, pits, seeds).ok_or(board)?;
        let book = options.book;
        let (proofs, findings) = (Mutex::default(), Mutex::default());
        let engine = Engine { seeds, sower, keys, tables, book, evaluation, positions, proofs, findings };
        engine.store_book(cancel)?;
        Ok(engine)
    }

    /// Stores the bounds of the book in the transposition table, where searches find them. In a large table
    /// almost each of them touches a new page, which the system fills with zeros first.
    ///
    /// # Errors
    /// If `cancel` was cancelled meanwhile.
    fn store_book(&self, cancel: &Cancel) -> Result<(), Stopped> {
        let Some(book) = self.book else { return Ok(()) };
        self.positions.make_room(book.len() as u64);
        let is_large = book.len() as u64 > self.positions.capacity() / BOOK_PART;
        let nodes = if is_large { LARGE_BOOK_NODES } else { BOOK_NODES };
        for (number, (position, bounds)) in book.iter().enumerate() {
            if number.is_multiple_of(BOOK_PASS) {
                cancel.check()?;
            }
            if position.seeds() as usize > self.seeds || position.seeds() as usize <= self.tables.reach() {
                continue;
            }
            let board: Board<W> = board(&position);
            let [mover, other] = [board.mover, board.other].map(|row| self.keys.row(row.sums()));
            let entry = self.positions.locate(self.keys.combine(mover, board.mover.total(), other));
            self.positions.put(entry, bounds, nodes);
        }
        Ok(())
    }

    /// The known bounds of the score of `board`.
    pub(crate) fn known_of(&self, board: Board<W>) -> Result<Bounds, TableError> {
        let seeds = board.seeds();
        let exact = |score| Bounds { lower: score, upper: score };
        if board.is_over() {
            return Ok(exact(board.mover.total()));
        }
        let (mover, mover_seeds) = (self.keys.row(board.mover.sums()), board.mover.total());
        let other = self.keys.row(board.other.sums());
        let mut known = Bounds { lower: 0, upper: seeds };
        if seeds as usize <= self.tables.reach() {
            let location = self.tables.locate(seeds, mover_seeds, mover, other);
            known = self.tables.bounds(board, seeds, location)?;
            if seeds as usize <= self.tables.exact() {
                return Ok(known);
            }
        }
        let entry = self.positions.locate(self.keys.combine(mover, mover_seeds, other));
        let transposition = self.positions.get(entry);
        let book = self.book.filter(|book| book.seeds().is_some_and(|layers| layers.contains(&seeds)));
        let from_book = book.and_then(|book| book.get(&board.position(self.sower.pits())?));
        let proved = [self.proofs.lock().get(&board).copied(), from_book, transposition];
        for proved in proved.into_iter().flatten() {
            known = Bounds { lower: known.lower.max(proved.lower), upper: known.upper.min(proved.upper) };
        }
        Ok(known)
    }

    /// Calls `search` with no findings.
    fn with_findings<T>(&self, search: impl FnOnce(&mut Findings) -> T) -> T {
        let mut findings = self.findings.lock().pop().unwrap_or_default();
        let found = search(&mut findings);
        findings.clear();
        self.findings.lock().push(findings);
        found
    }

    fn static_search<'s>(&'s self, ends: Ends<'s>) -> StaticSearch<'s, W> {
        StaticSearch { sower: &self.sower, evaluation: &self.evaluation, ends }
    }
}

/// The board of a position that fits the solver.
fn board<W: Word>(position: &Position) -> Board<W> {
    Board::of(position).expect("a board that fits the solver")
}

impl<W: Word> Search for Engine<'_, W> {
    fn exact(&self) -> usize {
        self.tables.exact()
    }

    fn reach(&self) -> usize {
        self.tables.reach()
    }

    fn known(&self, position: &Position) -> Result<Bounds, TableError> {
        self.known_of(board(position))
    }

    fn work(&self, position: &Position) -> u64 {
        // The effort of an entry from the book only protects it from being replaced.
        if self.book.is_some_and(|book| book.get(position).is_some()) {
            return 0;
        }
        self.positions.work(self.positions.locate(self.keys.key(board(position)))).unwrap_or(0)
    }

    fn add_proof(&self, position: &Position, proved: Bounds) -> Result<(), SolveError> {
        let mut proofs = self.proofs.lock();
        let known = proofs.entry(board(position)).or_insert(Bounds { lower: 0, upper: position.seeds() });
        let both = Bounds { lower: known.lower.max(proved.lower), upper: known.upper.min(proved.upper) };
        *known = SolveError::unless_contradictory(position, both)?;
        Ok(())
    }

    fn forget(&self) {
        self.proofs.lock().clear();
        self.positions.forget();
        // It cannot be cancelled, so it cannot fail.
        let _ = self.store_book(&Cancel::new());
    }

    fn test(&self, position: &Position, score: u32, run: &Run) -> Result<u32, SolveError> {
        let board = board(position);
        let node = Node { board, seeds: position.seeds() };
        let ends = Ends { cancel: run.cancel, nodes: Some((run.nodes, run.most_nodes())) };
        let shared = Shared {
            expander: Expander { sower: &self.sower, keys: &self.keys, tables: &self.tables },
            positions: &self.positions,
            ordering: self.static_search(ends),
            unkept: unkept(self.tables.exact(), self.tables.reach()),
            ends,
            done: AtomicBool::new(false),
            nodes: run.nodes,
            hits: run.hits,
            error: Mutex::new(None),
            parallel: run.threads > 1,
            busy: Shared::<W>::busy_places(run.threads),
            orders: SharedOrders::new(run.threads),
        };
        let result = Mutex::new(None);
        let work = || {
            if let Some(found) = self.with_findings(|findings| Worker::new(&shared, findings).run(node, score)) {
                result.lock().get_or_insert(found);
                shared.done.store(true, Ordering::Relaxed);
            }
        };
        let ended = Cancel::new();
        std::thread::scope(|scope| {
            let copier = (run.copies != Copies::default() && !self.tables.is_copied()).then(|| {
                std::thread::Builder::new().spawn_scoped(scope, || {
                    let wait = |until: Duration| {
                        while run.start.elapsed() < until && !ended.is_cancelled() {
                            std::thread::park_timeout(until.saturating_sub(run.start.elapsed()));
                        }
                    };
                    self.tables.copy(run.copies, &wait, &ended);
                })
            });
            for _ in 1..run.threads {
                // If the system has no more threads, the search runs with fewer.
                if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
            ended.cancel();
            if let Some(Ok(copier)) = copier {
                copier.thread().unpark();
            }
        });
        if let Some(error) = shared.error.into_inner() {
            return Err(error.into());
        }
        let result = result.into_inner();
        result.ok_or_else(|| run.ended())
    }

    fn evaluate(&self, position: &Position, turns: u32, left: &mut u32, cancel: &Cancel) -> i32 {
        let search = self.static_search(Ends::of(cancel));
        self.with_findings(|findings| {
            findings.left = *left;
            let evaluation = search.search(board(position), position.seeds(), turns, WINDOW, findings);
            *left = findings.left;
            evaluation
        })
    }

    fn depth_limited(
        &self,
        position: &Position,
        depth: Depth,
        budget: u64,
        cancel: &Cancel,
    ) -> Result<Option<DepthLimitedResult>, SolveError> {
        let search = BoundedSearch {
            sower: &self.sower,
            evaluation: &self.evaluation,
            known: |board| self.known_of(board),
            cancel,
            budget,
            evaluated: false,
        };
        search.run(position, board(position), &in_order(self.sower.rules(), position), depth)
    }

    fn fill(&self) -> f64 {
        self.positions.fill()
    }

    #[cfg(not(target_family = "wasm"))]
    fn save(&self, line: &[u8], out: &mut dyn std::io::Write) -> std::io::Result<()> {
        // Other entries may have replaced them. Their effort protects them, as that of bounds from the book.
        for (&board, &bounds) in self.proofs.lock().iter() {
            let _kept = self.positions.keep_size();
            self.positions.put(self.positions.locate(self.keys.key(board)), bounds, BOOK_NODES);
        }
        file::save(&self.positions, line, out)
    }

    #[cfg(not(target_family = "wasm"))]
    fn load(&mut self, line: &[u8], saved: &mut dyn std::io::BufRead) -> std::io::Result<u64> {
        file::load(&mut self.positions, self.seeds, line, saved)
    }
}
