use super::board::{Board, Sown};
use super::order::{Promise, collects};
use super::prober::Spot;
use super::search::{Shared, Worker};
use super::transposition::Slot;
use super::word::{Moves, Word};

/// Seeds above the tables up to which what is proved of a position is not kept: proving it again costs no more than keeping
/// it, and leaves the room to positions that cost more (docs/measurements.md).
const UNKEPT_SEEDS: u32 = 7;

/// The most seeds in play of positions that are not kept, with tables to `reach` seeds (0: without tables).
///
/// Without tables all are kept: few seeds on many pits play on for long, and reach the same positions in many ways.
pub(super) fn unkept(reach: usize) -> u32 {
    if reach > 0 { reach as u32 + UNKEPT_SEEDS } else { 0 }
}

/// A position to search.
#[derive(Clone, Copy)]
pub(super) struct Node<W> {
    pub board: Board<W>,
    /// Seeds in play.
    pub seeds: u32,
}

/// A position after a move, still to be searched.
#[derive(Clone, Copy)]
pub(super) struct Child<W> {
    pub node: Node<W>,
    /// Seeds the move stores.
    pub stored: u32,
    /// Whether the mover moves again.
    pub again: bool,
    pub promise: Promise,
}

impl<W> Child<W> {
    /// Larger comes first.
    #[inline]
    pub fn order(&self) -> i32 {
        self.promise.order()
    }
}

/// A position after a move, whose score stands in a table.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub spot: Spot,
    pub again: bool,
    pub stored: u32,
    /// Seeds in play after the move.
    pub seeds: u32,
}

/// What shows of a position as soon as its moves are played.
pub(super) struct Certain {
    /// What the mover has for sure after the best of the moves, from seeds stored and games ended alone.
    pub lower: u32,
    /// What the mover gets at most by moves that end the game.
    pub ended: u32,
}

impl<W: Word> Worker<'_, '_, '_, W> {
    /// Plays the moves of a position in which the mover is tested to collect `score`. Those that lead to tables become the
    /// known ones, all others but those that end the game new children. What the first of the known ones reads is fetched,
    /// unless what is certain is enough: each fetch costs a walk of the page tables, and most tests are over after the first.
    #[inline]
    pub fn expand(&mut self, node: Node<W>, score: u32) -> Certain {
        let Shared { sower, keys, prober, .. } = *self.shared;
        self.known.clear();
        let mut certain = Certain { lower: 0, ended: 0 };
        for pit in (0..sower.pits()).rev() {
            if node.board.mover.seeds_in(pit) == 0 {
                continue;
            }
            let sown = sower.sow(node.board, pit);
            let Sown { board, stored, again } = sown;
            if board.is_over() {
                // What is left belongs to the owner of the row it lies in.
                certain.ended = certain.ended.max(stored + board.mover.total());
                continue;
            }
            certain.lower = certain.lower.max(stored);
            let (board, seeds) = (sown.next(), node.seeds - stored);
            if seeds as usize <= prober.reach() {
                let mover_sums = board.mover.sums();
                let spot = prober.locate(seeds, mover_sums.last(), keys.row(mover_sums), keys.row(board.other.sums()));
                self.known.push(Known { spot, again, stored, seeds });
            } else {
                let promise = Promise::new(pit, again, stored, board);
                self.children.push(Child { node: Node { board, seeds }, again, stored, promise });
            }
        }
        certain.lower = certain.lower.max(certain.ended);
        if let Some(known) = self.known.first().filter(|_| certain.lower < score) {
            prober.prefetch(known.spot);
        }
        certain
    }

    /// Estimates what is collected with the children from `first` on.
    #[inline]
    pub fn estimate(&mut self, first: usize) {
        let estimate = self.shared.look.estimate;
        for child in &mut self.children[first..] {
            let Child { node: Node { board, seeds }, again, stored, .. } = *child;
            child.promise.collects = collects(again, stored, seeds, estimate.score(board, seeds));
        }
    }
}

impl<W: Word> Shared<'_, '_, W> {
    /// Whether what is proved of a position is kept.
    #[inline]
    pub fn keeps(&self, node: Node<W>) -> bool {
        node.seeds > self.unkept
    }

    /// Where what is proved of a position is kept, if it is.
    #[inline]
    pub fn slot(&self, node: Node<W>) -> Option<Slot<W>> {
        self.keeps(node).then(|| self.positions.slot(self.keys.key(node.board)))
    }
}
