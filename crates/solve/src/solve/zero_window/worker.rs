use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use kalah_core::game::{Bounds, mover_score};
use kalah_core::table::TableError;
use parking_lot::Mutex;

use super::expansion::{Certain, Child, Expander, InTables, Node};
use super::ordering::{LEAST_ABOVE, evaluate, refine};
use super::orders::SharedOrders;
use crate::solve::depth_limited::{Findings, StaticSearch};
use crate::solve::ends::Ends;
use crate::solve::evaluation::{SEED, select};
use crate::solve::packed::{MoveList, Word};
use crate::solve::probing::ScoreLocation;
use crate::solve::transposition::{EntryLocation, TranspositionTable};

/// Bounds of positions up to this many seeds above the tables are not stored. Proving them again costs no more
/// than storing them, and leaves space for positions that cost more (docs/measurements.md).
const UNKEPT_SEEDS: u32 = 7;

/// The same above bound tables. They leave some positions undecided, so proving a position again costs more.
const UNKEPT_ABOVE_BOUNDS: u32 = 4;

/// Nodes after which a thread again looks for a position on its path that another thread has decided.
const CHECK_NODES: u64 = 1 << 10;

/// A search stores an entry for this many nodes at most.
const NODES_AN_ENTRY: u64 = 2;

/// Work between two checks for a stop. A score read from a table, which may come from the disk, counts as 1,
/// and so does a node of the searches that order moves.
const ASK_WORK: u64 = 1 << 8;

/// The same for the first nodes of a search. Each may touch another huge page of the transposition table for
/// the first time, which takes a millisecond.
const FIRST_ASK_WORK: u64 = 1 << 6;

/// Number of these first nodes.
const FIRST_NODES: u64 = 1 << 12;

/// The work of a node.
const NODE_WORK: u64 = 1 << 3;

/// Places for the positions under search that threads share. A mark high above the tables lasts for seconds,
/// unless another one replaces it.
const BUSY: usize = 1 << 16;

/// The result of a stopped search; no score is that large.
const STOPPED: u32 = u32::MAX;

/// Maximum seeds in play of positions that are not stored, with exact tables up to `exact` seeds and bound
/// tables up to `reach` (0 without tables).
///
/// Without tables all are stored: games with few seeds on many pits are long, and reach the same positions in
/// many ways.
pub(crate) fn unkept(exact: usize, reach: usize) -> u32 {
    match reach as u32 {
        0 => 0,
        reach if reach == exact as u32 => reach + UNKEPT_SEEDS,
        reach => reach + UNKEPT_ABOVE_BOUNDS,
    }
}

/// Data that all threads of a search share.
pub(crate) struct Shared<'a, 't, W> {
    pub expander: Expander<'a, 't, W>,
    pub positions: &'a TranspositionTable<W>,
    /// The search for move ordering.
    pub ordering: StaticSearch<'a, W>,
    /// Maximum seeds in play of positions that are not stored.
    pub unkept: u32,
    /// Conditions that end the search of all threads.
    pub ends: Ends<'a>,
    /// Set when one thread has the result.
    pub done: AtomicBool,
    pub nodes: &'a AtomicU64,
    pub hits: &'a AtomicU64,
    pub error: Mutex<Option<TableError>>,
    /// True if more than one thread searches.
    pub parallel: bool,
    /// Positions under search, by hash.
    pub busy: Box<[AtomicU64]>,
    /// Orders of moves.
    pub orders: SharedOrders<W>,
}

impl<W> Shared<'_, '_, W> {
    /// Places for the positions under search by this many threads.
    pub(crate) fn busy_places(threads: usize) -> Box<[AtomicU64]> {
        (0..if threads > 1 { BUSY } else { 0 }).map(|_| AtomicU64::new(0)).collect()
    }
}

impl<W: Word> Shared<'_, '_, W> {
    /// Returns true if bounds of the position are stored.
    #[inline]
    fn keeps(&self, node: Node<W>) -> bool {
        node.seeds > self.unkept
    }

    /// Location of the stored bounds of a position, if they are stored.
    #[inline]
    fn entry(&self, node: Node<W>) -> Option<EntryLocation<W>> {
        self.keeps(node).then(|| self.positions.locate(self.expander.keys.key(node.board)))
    }
}

/// One thread of a search.
pub(crate) struct Worker<'s, 'a, 't, W: Word> {
    shared: &'s Shared<'a, 't, W>,
    nodes: u64,
    reported: u64,
    hits: u64,
    reported_hits: u64,
    /// The tests on the path from the root whose results are stored.
    open: Vec<(EntryLocation<W>, u32)>,
    /// The children of all positions on the path from the root, one position after the other.
    children: Vec<Child<W>>,
    /// Children of the last expanded position that are in tables.
    known: W::Moves<InTables<W>>,
    /// Locations of their scores or bounds: of the first, or of all.
    locations: W::Moves<ScoreLocation>,
    /// Recent results of the searches that order moves.
    findings: &'s mut Findings,
    /// Nodes of the searches that order moves.
    ordering_nodes: u64,
    /// Amount of work at which the next check for a stop is due.
    ask_at: u64,
    /// Index in `open` of a test that another thread has decided. The search goes back to it.
    back_to: Option<usize>,
}

impl<'s, 'a, 't, W: Word> Worker<'s, 'a, 't, W> {
    /// A thread of `shared`, which begins with `findings`.
    pub(crate) fn new(shared: &'s Shared<'a, 't, W>, findings: &'s mut Findings) -> Worker<'s, 'a, 't, W> {
        Worker {
            shared,
            nodes: 0,
            reported: 0,
            hits: 0,
            reported_hits: 0,
            open: Vec::new(),
            children: Vec::new(),
            known: Default::default(),
            locations: Default::default(),
            findings,
            ordering_nodes: 0,
            ask_at: FIRST_ASK_WORK,
            back_to: None,
        }
    }

    /// Tests whether the mover of the position can collect at least `score` (1 to the seeds in play). Returns a
    /// bound of its score: a lower bound if it is at least `score`, otherwise an upper bound. `None` if
    /// stopped.
    pub(crate) fn run(&mut self, node: Node<W>, score: u32) -> Option<u32> {
        let result = self.test(node, score);
        self.report();
        (result != STOPPED).then_some(result)
    }

    /// Adds to the shared counters.
    fn report(&mut self) {
        self.shared.nodes.fetch_add(self.nodes - self.reported, Ordering::Relaxed);
        self.shared.hits.fetch_add(self.hits - self.reported_hits, Ordering::Relaxed);
        (self.reported, self.reported_hits) = (self.nodes, self.hits);
    }

    /// The work done so far.
    #[inline]
    fn work(&self) -> u64 {
        NODE_WORK * self.nodes + self.hits + self.ordering_nodes
    }

    /// Checks often whether the search must end. There may be much work between two nodes, so work is counted, not
    /// nodes.
    #[cold]
    fn is_ended(&mut self) -> bool {
        self.ask_at = self.work() + if self.nodes < FIRST_NODES { FIRST_ASK_WORK } else { ASK_WORK };
        self.shared.done.load(Ordering::Relaxed) || self.shared.ends.is_reached()
    }

    /// Reports progress from time to time and checks whether the search may continue. Returns false to go back.
    #[cold]
    fn check(&mut self) -> bool {
        self.report();
        self.shared.positions.make_room(self.shared.nodes.load(Ordering::Relaxed) / NODES_AN_ENTRY);
        if self.shared.parallel {
            for (index, &(entry, score)) in self.open.iter().enumerate() {
                if let Some(known) = self.shared.positions.get(entry)
                    && (known.lower >= score || known.upper < score)
                {
                    self.back_to = Some(index);
                    return false;
                }
            }
        }
        true
    }

    /// A fail-soft zero-window test.
    ///
    /// Appends children to the list and leaves them there for the caller.
    fn test(&mut self, node: Node<W>, score: u32) -> u32 {
        let Shared { ref expander, positions, .. } = *self.shared;
        let entry = self.shared.entry(node);
        if let Some(entry) = entry {
            positions.prefetch(entry);
        }
        let first = self.children.len();
        let Certain { mut lower, ended: mut upper, first: location } =
            expander.expand(node, score, &mut self.known, &mut self.children);
        if let Some(proved) = entry.and_then(|entry| positions.get(entry)) {
            if proved.lower >= score {
                // A forged file of a transposition table may have a larger bound.
                return proved.lower.min(node.seeds);
            }
            if proved.upper < score {
                return proved.upper;
            }
        }
        self.nodes += 1;
        if self.work() >= self.ask_at && self.is_ended() {
            return STOPPED;
        }
        if self.nodes.is_multiple_of(CHECK_NODES) && !self.check() {
            return STOPPED;
        }
        if lower >= score {
            return lower;
        }
        match self.look_up(node, score, location, (lower, upper)) {
            Ok(bounds) => (lower, upper) = bounds,
            Err(decided) => return decided,
        }
        upper = upper.max(lower);
        if self.children.len() == first {
            return upper;
        }
        let (depth, before) = (self.open.len(), self.nodes);
        if let Some(entry) = entry {
            self.open.push((entry, score));
        }
        let result = self.search(node, score, upper, first);
        self.open.truncate(depth);
        if result == STOPPED {
            if entry.is_some() && self.back_to == Some(depth) {
                self.back_to = None;
                // Another thread decided it. If the entry was replaced meanwhile, it is searched again.
                self.children.truncate(first);
                return self.test(node, score);
            }
            return STOPPED;
        }
        if let Some(entry) = entry {
            let proved = if result >= score {
                Bounds { lower: result, upper: node.seeds }
            } else {
                Bounds { lower, upper: result }
            };
            positions.put(entry, proved, self.nodes - before);
        }
        result
    }

    /// Looks up the moves that lead to positions with bounds in the tables, the first of them at `location`. Moves
    /// that the bounds do not decide are added to the children. Returns the bounds of the moves that are not
    /// searched, or the bound that decides the test.
    #[inline(always)]
    fn look_up(
        &mut self,
        node: Node<W>,
        score: u32,
        location: ScoreLocation,
        (mut lower, mut upper): (u32, u32),
    ) -> Result<(u32, u32), u32> {
        let expander = &self.shared.expander;
        let tables = expander.tables;
        self.locations.clear();
        self.locations.push(location);
        for (index, known) in self.known.iter().enumerate() {
            if index == 1 {
                for known in &self.known[1..] {
                    let location = expander.locate(known.node);
                    tables.prefetch(known.node.seeds, location);
                    self.locations.push(location);
                }
            }
            self.hits += 1;
            let found = match tables.bounds(known.node.board, known.node.seeds, self.locations[index]) {
                Ok(bounds) => bounds.after(known.again, known.stored, node.seeds),
                Err(error) => return Err(self.fail(error)),
            };
            lower = lower.max(found.lower);
            if lower >= score {
                return Err(lower);
            }
            if found.upper < score {
                upper = upper.max(found.upper);
            } else {
                // The bounds of the position do not decide the test, so it is searched.
                self.children.push(known.child());
            }
        }
        Ok((lower, upper))
    }

    /// Searches the children from `first` on; all other moves fall short of `score` and give at most `upper`.
    fn search(&mut self, node: Node<W>, score: u32, mut upper: u32, first: usize) -> u32 {
        let Node { seeds, .. } = node;
        let Shared { ref expander, positions, ref ordering, .. } = *self.shared;
        let end = self.children.len();
        let above = seeds.saturating_sub(expander.tables.reach() as u32);
        // A single move needs no order.
        if end - first > 1 {
            evaluate(ordering.evaluation, &mut self.children[first..], above);
        }
        let place = self.busy(node, score);
        let findings = &mut *self.findings;
        let mut search_ahead = |children: &mut [Child<W>]| refine(ordering, findings, children, seeds, above, score);
        let visited = match place {
            Some((_, mark)) if above >= LEAST_ABOVE => {
                self.shared.orders.once(mark, node, score, &mut self.children[first..], search_ahead)
            }
            _ => search_ahead(&mut self.children[first..]),
        };
        self.ordering_nodes += u64::from(visited);
        let mut deferred = 0u32;
        for pass in 0..2 {
            for index in 0..end - first {
                if pass == 0 {
                    select(&mut self.children[first + index..], Child::score);
                } else if deferred >> index & 1 == 0 {
                    continue;
                }
                let child = self.children[first + index];
                let child_score = if child.again { score - child.stored } else { seeds + 1 - score };
                let busy = self.busy(child.node, child_score);
                if let Some((place, mark)) = busy {
                    // A move expected to succeed is searched by all threads: if it does, other moves are wasted
                    // work.
                    let fails = child.move_score.evaluation < SEED * score as i32;
                    if pass == 0 && index > 0 && fails && place.load(Ordering::Relaxed) == mark {
                        deferred |= 1 << index;
                        continue;
                    }
                    place.store(mark, Ordering::Relaxed);
                }
                // Most tests end after the first move, and each unnecessary fetch costs a page-table walk.
                if pass == 0 && index > 0 && self.shared.keeps(node) {
                    select(&mut self.children[first + index + 1..], Child::score);
                    let next = self.children.get(first + index + 1);
                    if let Some(entry) = next.and_then(|next| self.shared.entry(next.node)) {
                        positions.prefetch(entry);
                    }
                }
                let result = self.test(child.node, child_score);
                self.children.truncate(end);
                if let Some((place, mark)) = busy
                    && place.load(Ordering::Relaxed) == mark
                {
                    place.store(0, Ordering::Relaxed);
                }
                if result == STOPPED {
                    return STOPPED;
                }
                let found = mover_score(child.again, child.stored, seeds, result);
                if found >= score {
                    return found;
                }
                upper = upper.max(found);
            }
            if deferred == 0 {
                break;
            }
        }
        upper
    }

    /// The place where threads mark that they test a position, and the mark. `None` if marking costs more than
    /// it saves.
    #[inline]
    fn busy(&self, node: Node<W>, score: u32) -> Option<(&'s AtomicU64, u64)> {
        let entry = self.shared.parallel.then(|| self.shared.entry(node))??;
        let mark = entry.mark(score);
        Some((&self.shared.busy[mark as usize % BUSY], mark))
    }

    #[cold]
    fn fail(&mut self, error: TableError) -> u32 {
        let mut first = self.shared.error.lock();
        first.get_or_insert(error);
        self.shared.done.store(true, Ordering::Relaxed);
        STOPPED
    }
}
