use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::board::Sower;
use super::expansion::{Expansion, Node, collected};
use super::key::Keys;
use super::lookahead::Lookahead;
use super::prober::Prober;
use super::transposition::{Bounds, Slot, TranspositionTable};
use super::word::Word;
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
pub(super) struct Shared<'a, 't, W> {
    pub sower: &'a Sower<W>,
    pub keys: &'a Keys<W>,
    pub prober: &'a Prober<'t>,
    pub positions: &'a TranspositionTable<W>,
    pub look: Lookahead<'a, W>,
    /// The most seeds in play of positions that are not kept.
    pub unkept: u32,
    /// Tells whether all threads are to end the search.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
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

impl<W> Shared<'_, '_, W> {
    pub fn busy_places() -> Box<[AtomicU64]> {
        (0..BUSY).map(|_| AtomicU64::new(0)).collect()
    }
}

/// One thread of a search.
pub(super) struct Worker<'s, 'a, 't, W> {
    shared: &'s Shared<'a, 't, W>,
    nodes: u64,
    told: u64,
    hits: u64,
    told_hits: u64,
    /// The tests under way, from the root to here.
    open: Vec<(Slot<W>, u32)>,
    /// Number of open tests to go back to, because that one was decided elsewhere.
    back_to: Option<usize>,
}

impl<'s, 'a, 't, W: Word> Worker<'s, 'a, 't, W> {
    pub fn new(shared: &'s Shared<'a, 't, W>) -> Worker<'s, 'a, 't, W> {
        Worker { shared, nodes: 0, told: 0, hits: 0, told_hits: 0, open: Vec::new(), back_to: None }
    }

    /// Whether the mover of the position can collect at least `score` (1 to the seeds in play): a bound of its score,
    /// a lower one if it is at least `score`, else an upper one. `None` if stopped.
    pub fn run(&mut self, node: Node<W>, score: u32) -> Option<u32> {
        let result = self.test(&mut self.shared.expand(node), score);
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
        if self.shared.done.load(Ordering::Relaxed) || (self.shared.interrupted)() {
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

    /// Keeps what is proved of a position, with `nodes` searched for it, or not.
    #[inline]
    fn keep(&self, node: Node<W>, proved: Bounds, nodes: u64) {
        if self.shared.keeps(node) {
            self.shared.positions.put(node.slot, proved, nodes);
        }
    }

    /// Fail-soft zero-window test.
    fn test(&mut self, position: &mut Expansion<W>, score: u32) -> u32 {
        let Shared { prober, positions, .. } = *self.shared;
        let Expansion { node, mut lower, ended: mut upper, .. } = *position;
        let (children, known) = (&mut position.children, &position.known);
        let seeds = node.seeds;
        if self.shared.keeps(node)
            && let Some(proved) = positions.get(node.slot)
        {
            if proved.lower >= score {
                return proved.lower;
            }
            if proved.upper < score {
                return proved.upper;
            }
        }
        self.nodes += 1;
        if self.nodes.is_multiple_of(CHECK_NODES) && !self.check() {
            return STOPPED;
        }
        let before = self.nodes;
        if lower < score {
            known.iter().skip(1).for_each(|known| prober.prefetch(known.spot));
            for known in known.iter() {
                self.hits += 1;
                match prober.score(known.seeds, known.spot) {
                    Ok(exact) => {
                        let found = collected(seeds, known.again, known.stored, exact);
                        upper = upper.max(found);
                        if found >= score {
                            break;
                        }
                    }
                    Err(error) => return self.fail(error),
                }
            }
            lower = lower.max(upper);
        }
        if lower >= score {
            self.keep(node, Bounds { lower, upper: seeds }, 0);
            return lower;
        }
        if children.is_empty() {
            self.keep(node, Bounds { lower, upper }, 0);
            return upper;
        }
        self.shared.look.order(children, seeds, seeds - prober.reach() as u32, score);
        self.open.push((node.slot, score));
        let depth = self.open.len();
        let mut deferred = 0u32;
        for pass in 0..2 {
            for (index, child) in children.iter().enumerate() {
                if pass == 1 && deferred >> index & 1 == 0 {
                    continue;
                }
                let child_score = if child.again { score - child.stored } else { seeds + 1 - score };
                let shares =
                    self.shared.parallel && child.node.seeds as usize >= prober.reach() + SHARED_SEEDS as usize;
                let mark = child.node.slot.mark(child_score);
                let place = &self.shared.busy[mark as usize % BUSY];
                if shares {
                    if pass == 0 && index > 0 && place.load(Ordering::Relaxed) == mark {
                        deferred |= 1 << index;
                        continue;
                    }
                    place.store(mark, Ordering::Relaxed);
                }
                // After the first move most tests are over; each fetch that is not needed costs a walk of the page tables.
                if let Some(next) = children.get(index + 1).filter(|next| index > 0 && self.shared.keeps(next.node)) {
                    positions.prefetch(next.node.slot);
                }
                let result = self.test(&mut self.shared.expand(child.node), child_score);
                if shares && place.load(Ordering::Relaxed) == mark {
                    place.store(0, Ordering::Relaxed);
                }
                if result == STOPPED {
                    self.open.truncate(depth - 1);
                    if self.back_to == Some(depth - 1) {
                        self.back_to = None;
                        // Decided elsewhere; if the entry is gone again meanwhile, it is searched anew.
                        return self.test(position, score);
                    }
                    return STOPPED;
                }
                let found = collected(seeds, child.again, child.stored, result);
                if found >= score {
                    self.open.pop();
                    self.keep(node, Bounds { lower: found, upper: seeds }, self.nodes - before);
                    return found;
                }
                upper = upper.max(found);
            }
            if deferred == 0 {
                break;
            }
        }
        self.open.pop();
        self.keep(node, Bounds { lower, upper }, self.nodes - before);
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
