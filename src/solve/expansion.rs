use super::board::{Board, Sown};
use super::order::Promise;
use super::prober::Spot;
use super::search::Shared;
use super::transposition::Slot;
use super::word::{Moves, Word};

/// Seeds above the tables up to which what is proved of a position is not kept: proving it again costs no more than keeping
/// it, and leaves the room to positions that cost more (docs/measurements.md).
const UNKEPT_SEEDS: u32 = 6;

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
    pub slot: Slot<W>,
}

/// A position after a move, still to be searched.
#[derive(Clone, Copy)]
pub(super) struct Child<W> {
    pub node: Node<W>,
    /// Whether the mover moves again.
    pub again: bool,
    /// Seeds the move stores.
    pub stored: u32,
    pub promise: Promise,
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

/// What the mover collects in all, if the score after a move is `score`.
#[inline]
pub(super) fn collected(seeds: u32, again: bool, stored: u32, score: u32) -> u32 {
    if again { stored + score } else { seeds - score }
}

/// A position with its moves played, and the memory that they read on its way to the processor.
pub(super) struct Expansion<W: Word> {
    pub node: Node<W>,
    /// What the mover has for sure after the best of the moves, from seeds stored and games ended alone.
    pub lower: u32,
    /// What the mover gets at most by moves that end the game.
    pub ended: u32,
    /// In the order of the search.
    pub children: W::Moves<Child<W>>,
    pub known: W::Moves<Known>,
}

impl<W: Word> Shared<'_, '_, W> {
    /// Plays the moves of a position. What they need of the tables and of the transposition table is fetched meanwhile.
    #[inline]
    pub fn expand(&self, node: Node<W>) -> Expansion<W> {
        let Shared { sower, keys, prober, positions, ref look, .. } = *self;
        let (children, known) = Default::default();
        let mut expansion = Expansion { node, lower: 0, ended: 0, children, known };
        for pit in (0..sower.pits()).rev() {
            if node.board.mover.seeds_in(pit) == 0 {
                continue;
            }
            let sown = sower.sow(node.board, pit);
            let Sown { board, stored, again } = sown;
            if board.is_over() {
                // What is left belongs to the owner of the row it lies in.
                expansion.ended = expansion.ended.max(stored + board.mover.total());
                continue;
            }
            expansion.lower = expansion.lower.max(stored);
            let (board, seeds) = (sown.next(), node.seeds - stored);
            let mover_sums = board.mover.sums();
            let mover_seeds = mover_sums.last();
            let (mover, other) = (keys.row(mover_sums), keys.row(board.other.sums()));
            if seeds as usize <= prober.reach() {
                let spot = prober.locate(seeds, mover_seeds, mover, other);
                if expansion.known.is_empty() {
                    prober.prefetch(spot);
                }
                expansion.known.push(Known { spot, again, stored, seeds });
                continue;
            }
            let slot = positions.slot(keys.combine(mover, mover_seeds, other));
            let promise = Promise::new(look.estimate, pit, again, stored, board, seeds);
            let child = Child { node: Node { board, seeds, slot }, again, stored, promise };
            expansion.children.insert_by(child, |child| child.promise.order());
        }
        expansion.lower = expansion.lower.max(expansion.ended);
        if let Some(first) = expansion.children.first().filter(|first| self.keeps(first.node)) {
            positions.prefetch(first.node.slot);
        }
        expansion
    }

    /// Whether what is proved of a position is kept.
    #[inline]
    pub fn keeps(&self, node: Node<W>) -> bool {
        node.seeds > self.unkept
    }
}
