use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arrayvec::ArrayVec;

use super::board::{Board, MAX_BOARD_PITS, Sower, sums};
use super::key::Keys;
use super::prober::{Prober, Spot};
use super::transposition::{Bounds, Slot, TranspositionTable};
use crate::table::TableError;

/// Nodes between two looks at whether to stop and whether an open position was decided elsewhere.
const CHECK_NODES: u64 = 1 << 10;

/// Seeds above the tables from which threads keep out of each other's way; below, that costs more than it saves.
const SHARED_SEEDS: u32 = 4;

/// Positions under search that threads tell each other about.
const BUSY: usize = 1 << 10;

/// What a search that was stopped returns; no score is as large.
const STOPPED: u32 = u32::MAX;

/// What all threads of a search share.
pub(super) struct Shared<'a> {
    pub sower: &'a Sower,
    pub keys: &'a Keys,
    pub prober: &'a Prober<'a>,
    pub positions: &'a TranspositionTable,
    /// Set to end the search of all threads.
    pub stop: &'a AtomicBool,
    /// Set when one thread has the result.
    pub done: AtomicBool,
    pub nodes: &'a AtomicU64,
    pub hits: &'a AtomicU64,
    pub error: Mutex<Option<TableError>>,
    /// More than one thread searches.
    pub parallel: bool,
    /// Positions under search, by hash.
    pub busy: Box<[AtomicU64]>,
}

impl<'a> Shared<'a> {
    pub fn busy_places() -> Box<[AtomicU64]> {
        (0..BUSY).map(|_| AtomicU64::new(0)).collect()
    }
}

/// A position to search.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub board: Board,
    /// Seeds in play.
    pub seeds: u32,
    pub slot: Slot,
}

/// A position after a move, and what is known of it.
#[derive(Clone, Copy)]
struct Child {
    node: Node,
    spot: Spot,
    /// Whether the mover moves again.
    again: bool,
    /// Seeds the move stores.
    stored: u32,
    /// Smaller is searched earlier.
    order: u32,
    /// What the mover, before the move, collects with it at most.
    upper: u32,
}

impl Child {
    /// The mover's bounds from those of the position after the move; `seeds` were in play before it.
    #[inline]
    fn bounds(&self, seeds: u32, known: Bounds) -> Bounds {
        if self.again {
            Bounds { lower: self.stored + known.lower, upper: self.stored + known.upper }
        } else {
            Bounds { lower: seeds - known.upper, upper: seeds - known.lower }
        }
    }
}

/// One thread of a search.
pub(super) struct Worker<'s, 'a> {
    shared: &'s Shared<'a>,
    /// 0 for the first thread; the others differ in the order in which they look at positions.
    number: usize,
    nodes: u64,
    told: u64,
    hits: u64,
    told_hits: u64,
    /// The tests under way, from the root to here.
    open: Vec<(Slot, u32)>,
    /// Number of open tests to go back to, because that one was decided elsewhere.
    back_to: Option<usize>,
}

impl<'s, 'a> Worker<'s, 'a> {
    pub fn new(shared: &'s Shared<'a>, number: usize) -> Worker<'s, 'a> {
        Worker { shared, number, nodes: 0, told: 0, hits: 0, told_hits: 0, open: Vec::new(), back_to: None }
    }

    /// Whether the mover of the position can collect at least `score` (1 to the seeds in play): a bound of its score,
    /// a lower one if it is at least `score`, else an upper one. `None` if stopped.
    pub fn run(&mut self, node: Node, score: u32) -> Option<u32> {
        let result = self.test(node, score);
        self.tell();
        (result != STOPPED).then_some(result)
    }

    fn tell(&mut self) {
        self.shared.nodes.fetch_add(self.nodes - self.told, Ordering::Relaxed);
        self.shared.hits.fetch_add(self.hits - self.told_hits, Ordering::Relaxed);
        (self.told, self.told_hits) = (self.nodes, self.hits);
    }

    /// Now and then: tells how far it is, and finds out whether to go on. False to go back.
    #[cold]
    fn check(&mut self) -> bool {
        self.tell();
        if self.shared.stop.load(Ordering::Relaxed) || self.shared.done.load(Ordering::Relaxed) {
            return false;
        }
        if self.shared.parallel {
            for (index, &(slot, score)) in self.open.iter().enumerate() {
                if let Some(known) = self.shared.positions.get(slot)
                    && (known.lower >= score || known.upper < score)
                {
                    self.back_to = Some(index);
                    return false;
                }
            }
        }
        true
    }

    /// Fail-soft zero-window test.
    fn test(&mut self, node: Node, score: u32) -> u32 {
        self.nodes += 1;
        if self.nodes.is_multiple_of(CHECK_NODES) && !self.check() {
            return STOPPED;
        }
        let Shared { sower, keys, prober, positions, .. } = *self.shared;
        let seeds = node.seeds;
        let before = self.nodes;
        let mut lower = 0;
        let mut upper = 0;
        let mut children = ArrayVec::<Child, MAX_BOARD_PITS>::new();
        for pit in (0..sower.pits()).rev() {
            if node.board.mover >> (8 * pit) & 0xff == 0 {
                continue;
            }
            let sown = sower.sow(node.board, pit);
            let stored = sown.stored;
            if sown.board.is_over() {
                // What is left belongs to the owner of the row it lies in.
                let (end, _) = (stored + (sums(sown.board.mover) >> 56) as u32, ());
                lower = lower.max(end);
                upper = upper.max(end);
                continue;
            }
            lower = lower.max(stored);
            let board = if sown.again { sown.board } else { sown.board.turned() };
            let left = seeds - stored;
            let mover_sums = sums(board.mover);
            let mover_seeds = (mover_sums >> 56) as u32;
            let (mover, other) = (keys.row(mover_sums), keys.row(sums(board.other)));
            let mut child = Child {
                node: Node { board, seeds: left, slot: Slot::default() },
                spot: Spot::default(),
                again: sown.again,
                stored,
                order: if sown.again { 0 } else { 1000 } - (4 * stored + pit as u32) + 900,
                upper: seeds,
            };
            if left as usize <= prober.reach() {
                child.spot = prober.locate(left, mover_seeds, mover, other);
            } else {
                child.node.slot = positions.slot(keys.combine(mover, mover_seeds, other));
                positions.prefetch(child.node.slot);
            }
            children.push(child);
        }
        let mut index = 0;
        while lower < score && index < children.len() {
            let child = &mut children[index];
            let known = if child.node.seeds as usize <= prober.reach() {
                self.hits += 1;
                match prober.score(child.node.seeds, child.spot) {
                    Ok(exact) => Some(Bounds { lower: exact, upper: exact }),
                    Err(error) => return self.fail(error),
                }
            } else {
                positions.get(child.node.slot)
            };
            if let Some(known) = known {
                let known = child.bounds(seeds, known);
                lower = lower.max(known.lower);
                if known.upper < score {
                    upper = upper.max(known.upper);
                    children.swap_remove(index);
                    continue;
                }
                child.upper = known.upper;
            }
            index += 1;
        }
        if lower >= score {
            positions.put(node.slot, Bounds { lower, upper: seeds }, 0);
            return lower;
        }
        if children.is_empty() {
            positions.put(node.slot, Bounds { lower, upper }, 0);
            return upper;
        }
        children.sort_unstable_by_key(|child| child.order);
        self.open.push((node.slot, score));
        let depth = self.open.len();
        let mut deferred = 0u32;
        for pass in 0..2 {
            for (index, child) in children.iter().enumerate() {
                if pass == 1 && deferred >> index & 1 == 0 {
                    continue;
                }
                let child_score = if child.again { score - child.stored } else { seeds + 1 - score };
                let shares = self.shared.parallel && child.node.seeds as usize >= prober.reach() + SHARED_SEEDS as usize;
                let mark = child.node.slot.mark(child_score);
                let place = &self.shared.busy[mark as usize % BUSY];
                if shares {
                    if pass == 0 && index > 0 && place.load(Ordering::Relaxed) == mark {
                        deferred |= 1 << index;
                        continue;
                    }
                    place.store(mark, Ordering::Relaxed);
                }
                // What was searched meanwhile may have proved this one.
                let known = positions.get(child.node.slot);
                let decided = known.filter(|known| known.lower >= child_score || known.upper < child_score);
                let result = match decided {
                    Some(known) if known.lower >= child_score => known.lower,
                    Some(known) => known.upper,
                    None => self.test(child.node, child_score),
                };
                if shares && place.load(Ordering::Relaxed) == mark {
                    place.store(0, Ordering::Relaxed);
                }
                if result == STOPPED {
                    self.open.truncate(depth);
                    self.open.pop();
                    if self.back_to == Some(depth - 1) {
                        self.back_to = None;
                        // Decided elsewhere; if the entry is gone again meanwhile, search on from the start.
                        return match positions.get(node.slot) {
                            Some(known) if known.lower >= score => known.lower,
                            Some(known) if known.upper < score => known.upper,
                            _ => self.test(node, score),
                        };
                    }
                    return STOPPED;
                }
                let found = if child.again { child.stored + result } else { seeds - result };
                if found >= score {
                    self.open.pop();
                    positions.put(node.slot, Bounds { lower: found, upper: seeds }, self.nodes - before);
                    return found;
                }
                upper = upper.max(found.min(child.upper));
            }
            if deferred == 0 {
                break;
            }
        }
        self.open.pop();
        positions.put(node.slot, Bounds { lower, upper }, self.nodes - before);
        upper
    }

    #[cold]
    fn fail(&mut self, error: TableError) -> u32 {
        let mut first = self.shared.error.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        first.get_or_insert(error);
        self.shared.done.store(true, Ordering::Relaxed);
        STOPPED
    }
}
