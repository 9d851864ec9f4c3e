use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::board::{Board, Sower};
use super::key::Keys;
use super::prober::Prober;
use super::search::{Node, Shared, Worker};
use super::transposition::{Bounds, Slot, TranspositionTable};
use crate::game::{Position, Rules};
use crate::table::{TableError, Tables};

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
    /// Threads, at least 1.
    pub threads: usize,
}

/// Why a solver did not end with a result.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// It was asked to stop.
    #[error("stopped")]
    Asked,
    /// A table cannot be read.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// Solves positions of one rule set and board.
pub struct Solver<'a> {
    sower: Sower,
    keys: Keys,
    prober: Prober<'a>,
    positions: TranspositionTable,
    threads: usize,
    /// Set to stop.
    pub stop: AtomicBool,
    /// Nodes searched.
    pub nodes: AtomicU64,
    /// Scores read from tables.
    pub hits: AtomicU64,
}

impl<'a> Solver<'a> {
    /// A solver.
    pub fn new(options: &SolverOptions<'a>) -> std::io::Result<Solver<'a>> {
        let sower = Sower::new(options.rules, options.pits, options.seeds);
        let keys = Keys::new(options.pits, options.seeds).expect("TODO");
        let prober = Prober::new(&keys, options.tables, options.tables_up_to);
        let positions = TranspositionTable::new(keys.count(), options.memory)?;
        Ok(Solver {
            sower,
            keys,
            prober,
            positions,
            threads: options.threads,
            stop: AtomicBool::new(false),
            nodes: AtomicU64::new(0),
            hits: AtomicU64::new(0),
        })
    }

    /// Whether the mover of `board` can collect at least `score`.
    pub fn test(&self, board: Board, score: u32) -> Result<u32, Stopped> {
        let seeds = board.seeds();
        let slot = self.positions.slot(self.keys.key(board));
        let shared = Shared {
            sower: &self.sower,
            keys: &self.keys,
            prober: &self.prober,
            positions: &self.positions,
            stop: &self.stop,
            done: AtomicBool::new(false),
            nodes: &self.nodes,
            hits: &self.hits,
            error: Mutex::new(None),
            parallel: self.threads > 1,
            busy: Shared::busy_places(),
        };
        let result = Mutex::new(None);
        let work = |number| {
            let found = Worker::new(&shared, number).run(Node { board, seeds, slot }, score);
            if let Some(found) = found {
                shared.done.store(true, Ordering::Relaxed);
                *result.lock().unwrap() = Some(found);
            }
        };
        std::thread::scope(|scope| {
            for number in 1..self.threads {
                scope.spawn(move || work(number));
            }
            work(0);
        });
        if let Some(error) = shared.error.into_inner().unwrap() {
            return Err(error.into());
        }
        result.into_inner().unwrap().ok_or(Stopped::Asked)
    }

    /// The score of a position.
    pub fn score(&self, position: &Position, guess: u32) -> Result<u32, Stopped> {
        let board = Board::of(position).unwrap();
        let mut bounds = Bounds { lower: 0, upper: board.seeds() };
        let mut score = guess;
        while bounds.lower < bounds.upper {
            let start = std::time::Instant::now();
            let nodes = self.nodes.load(Ordering::Relaxed);
            let test = score.clamp(bounds.lower + 1, bounds.upper);
            let found = self.test(board, test)?;
            eprintln!("test {test}: {found}, {} nodes, {:.3} s, fill {:.3}", self.nodes.load(Ordering::Relaxed) - nodes, start.elapsed().as_secs_f64(), self.positions.fill());
            if found >= test {
                bounds.lower = found;
                score = found + 1;
            } else {
                bounds.upper = found;
                score = found;
            }
        }
        let _ = Slot::default();
        Ok(bounds.lower)
    }
}
